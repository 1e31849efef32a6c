library(rosenblatt)

refused <- function(code, pattern) {
    message <- tryCatch({
        code
        "nothing was refused"
    }, rosenblatt_error = conditionMessage)
    if (!grepl(pattern, message)) stop("unexpected: ", message)
}

n <- 60
rows <- data.frame(
    size = seq_len(n) / 7,
    kind = factor(rep(c("a", "b", "c"), length.out = n)),
    code = factor(rep(c("10", "20", "30"), length.out = n)),
    digit = rep(c("1", "2"), length.out = n),
    open = rep(c(TRUE, FALSE, FALSE), length.out = n),
    day = as.Date("2024-01-01") + seq_len(n),
    stringsAsFactors = FALSE
)
rows$y <- ifelse(rows$code == "20", "yes", "no")
model <- perceptron(y ~ ., rows, algorithm = "perceptron")
kinds <- vapply(summary(model)$columns, function(one) one$kind, "")
names(kinds) <- vapply(summary(model)$columns, function(one) one$name, "")
# What is a name for R is a name for the engine, whatever it looks like; dates are no features.
stopifnot(kinds[["size"]] == "number", all(kinds[c("kind", "code", "digit", "open")] == "category"))
stopifnot(!"day" %in% names(kinds), any(grepl("day", unlist(model$notes))))
stopifnot(is.character(predict(model, rows)), mean(predict(model, rows) == rows$y) > 0.95)

# The answer has the type of the target.
target <- function(y) predict(perceptron(rows["code"], y, algorithm = "perceptron"), rows["code"])
yes <- rows$y == "yes"
stopifnot(is.logical(target(yes)), all(target(yes) == yes))
stopifnot(identical(target(factor(yes, levels = c("TRUE", "FALSE"))), factor(yes, levels = c("TRUE", "FALSE"))))
stopifnot(is.ordered(target(factor(yes, ordered = TRUE))))
stopifnot(identical(target(as.numeric(yes)), as.numeric(yes)))
stopifnot(identical(target(ifelse(yes, "with, comma", "with \"quotes\"")), ifelse(yes, "with, comma", "with \"quotes\"")))
stopifnot(identical(target(ifelse(yes, "ja", "n\u00e4")), ifelse(yes, "ja", "n\u00e4")))

# Every digit of a number gets through.
fine <- data.frame(x = 1 + (1:40) * 2^-40, y = rep(c("a", "b"), each = 20))
stopifnot(isTRUE(certify(y ~ x, fine)$separable))
fine$x[20] <- fine$x[21]
stopifnot(identical(certify(y ~ x, fine)$separable, FALSE))
stopifnot(isTRUE(certify(y ~ x, data.frame(x = c(-1e300, 1e-300), y = c("a", "b")))$separable))

# Missing values.
gaps <- iris
gaps$Petal.Width[c(3, 77)] <- NA
gaps$Sepal.Length[9] <- NaN
refused(perceptron(Species ~ ., gaps, algorithm = "perceptron"), "missing = ")
filled <- perceptron(Species ~ ., gaps, algorithm = "perceptron", missing = "mean")
stopifnot(!anyNA(predict(filled, gaps)))
dropped <- perceptron(Species ~ ., gaps, algorithm = "perceptron", missing = "drop")
stopifnot(dropped$rows == 147, identical(which(is.na(predict(dropped, gaps))), c(3L, 9L, 77L)))
stopifnot(identical(which(is.na(predict(dropped, gaps[c(3, 1), ], type = "prob")[, 1])), 1L))
refused(predict(dropped, gaps[3, ]), "no rows are left")
one <- perceptron(Species ~ Petal.Width, gaps, algorithm = "perceptron", missing = "mean")
stopifnot(length(predict(one, gaps)) == 150, length(predict(one, gaps[3, "Petal.Width", drop = FALSE])) == 1)
gaps$Species[1] <- NA
refused(perceptron(Species ~ ., gaps, algorithm = "perceptron", missing = "mean"), "label")

# Columns that weigh and split the rows.
grouped <- transform(iris, who = rep(1:30, 5), w = 1)
by_group <- perceptron(Species ~ ., grouped, group = "who", weight = "w", algorithm = "perceptron")
stopifnot(!"who" %in% rownames(coef(by_group)), !"w" %in% rownames(coef(by_group)))
stopifnot(length(predict(by_group, iris)) == 150)
some <- perceptron(Species ~ Petal.Width, grouped, group = "who", algorithm = "perceptron")
stopifnot(identical(rownames(coef(some)), c("(Intercept)", "Petal.Width")))

# What is wrong is an error of R with the engine's words.
refused(perceptron(Species ~ ., iris, epoch = 3), "there is no setting `epoch`; did you mean `epochs`")
refused(perceptron(Species ~ ., iris, epochs = 0), "epochs")
refused(perceptron(Species ~ ., iris, algorithm = "percetpron"), "did you mean `perceptron`")
refused(perceptron(Species ~ ., iris, missing = "maybe"), "`missing` should be")
refused(perceptron(Species ~ ., iris, label = "Petal.Width"), "`label` cannot be set")
refused(perceptron(Species ~ ., iris, 3), "has no name")
refused(perceptron(Species ~ ., iris, degree = 3), "about a kernel")
refused(perceptron(Species ~ Petal.Width * Petal.Length, iris), "cross")
refused(perceptron(~ Petal.Width, iris), "no response")
refused(perceptron(iris[1:4], iris$Species[1:3]), "150 rows, but 3 targets")
refused(perceptron(y ~ x, data.frame(x = 1:4, y = "only")), ".")
refused(perceptron(y ~ x, data.frame(x = c(1, Inf, 3, 4), y = c("a", "b", "a", "b"))), ".")
refused(predict(model, rows["size"]), "column")
refused(load_model(tempfile()), "no such file|No such file")
spoiled <- model
spoiled$model[100] <- xor(spoiled$model[100], as.raw(1))
refused(predict(spoiled, rows), ".")
