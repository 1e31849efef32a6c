library(rosenblatt)

# Classes: the defaults race, estimate and calibrate.
model <- perceptron(Species ~ ., iris)
stopifnot(inherits(model, "perceptron"), !is.null(model$race), model$estimate$error < 0.1)
classes <- predict(model, iris)
stopifnot(is.factor(classes), identical(levels(classes), levels(iris$Species)), mean(classes == iris$Species) > 0.95)
stopifnot(identical(classes, predict(model)))
shares <- predict(model, iris, type = "prob")
stopifnot(identical(dim(shares), c(150L, 3L)), identical(colnames(shares), levels(iris$Species)))
stopifnot(all(abs(rowSums(shares) - 1) < 1e-9), all(colnames(shares)[max.col(shares)] == classes))
stopifnot(identical(dim(predict(model, iris, type = "score")), c(150L, 3L)))
stopifnot(nrow(predict(model, iris[0, ], type = "prob")) == 0, length(predict(model, iris[0, ])) == 0)
text <- capture.output(print(model))
stopifnot(any(grepl("error on held-out rows: .* %", text)), any(grepl("^Call: perceptron", text)))
text <- capture.output(summary(model))
stopifnot(any(grepl("confusion", text)), any(grepl("race of 2", text)), any(grepl("Petal.Width", text)))

# Columns come in any order, and R's random numbers have no part in it.
set.seed(1)
state <- .Random.seed
again <- perceptron(Species ~ ., iris)
stopifnot(identical(again$model, model$model), identical(state, .Random.seed))
stopifnot(identical(predict(model, iris[5:1]), classes))
stopifnot(!identical(perceptron(Species ~ ., iris, algorithm = "perceptron", seed = 1)$model,
    perceptron(Species ~ ., iris, algorithm = "perceptron", seed = 2)$model))

# Rows and targets, as matrices and vectors.
by_rows <- perceptron(as.matrix(iris[1:4]), iris$Species)
stopifnot(identical(as.character(predict(by_rows, as.matrix(iris[1:4]))), as.character(classes)))

# Numbers.
cars <- perceptron(mpg ~ ., mtcars)
stopifnot(cars$task == "numbers", is.null(cars$estimate$error), cars$estimate$r2$value > 0.5)
guess <- predict(cars, mtcars)
stopifnot(is.numeric(guess), length(guess) == 32, cor(guess, mtcars$mpg) > 0.9)
stopifnot(any(grepl("root mean squared error", capture.output(print(cars)))))
stopifnot(inherits(try(predict(cars, mtcars, type = "prob"), silent = TRUE), "try-error"))
logs <- perceptron(log(mpg) ~ log(wt) + hp, mtcars, task = "regression", algorithm = "ridge", shape = "line")
stopifnot(cor(predict(logs, mtcars[c("hp", "wt")]), log(mtcars$mpg)) > 0.9)

# Settings by the names of the command line and of Python.
two <- droplevels(iris[iris$Species != "setosa", ])
pa <- perceptron(Species ~ ., two, algorithm = "pa1", param = c(C = 0.1), epochs = 7, calibrate = "off")
stopifnot(pa$algorithm == "pa1", summary(pa)$spec$params$C == 0.1, summary(pa)$spec$epochs == 7)
python <- perceptron(Species ~ ., two, algorithm = "pa1", params = c(C = 0.1), max.iter = 7, calibrate = "off")
stopifnot(identical(python$model, pa$model))
scores <- predict(pa, two, type = "score")
stopifnot(is.numeric(scores), all((scores > 0) == (predict(pa, two) == "virginica")))
weights <- coef(pa)
stopifnot(identical(names(weights), c("(Intercept)", names(iris)[1:4])))
stopifnot(is.matrix(coef(perceptron(Species ~ ., iris, algorithm = "perceptron"))))
kernel <- perceptron(Species ~ ., two, algorithm = "perceptron", kernel = "polynomial", degree = 3)
stopifnot(summary(kernel)$kernel$params$degree == 3, inherits(try(coef(kernel), silent = TRUE), "try-error"))
network <- perceptron(Species ~ ., iris, algorithm = "mlp", hidden = c(8, 4), epochs = 5)
stopifnot(all(c(8, 4) %in% unlist(summary(network)$network$sizes)))
plain <- perceptron(Species ~ . - 1, two, algorithm = "perceptron")
stopifnot(coef(plain)[["(Intercept)"]] == 0)
held <- perceptron(Species ~ ., iris, algorithm = "perceptron", holdout = 0.2)
stopifnot(held$estimate$rows == 30)

# Files of the engine, and R's own.
file <- tempfile(fileext = ".model")
save_model(model, file)
loaded <- load_model(file)
stopifnot(identical(loaded$model, model$model), identical(predict(loaded, iris), classes))
stopifnot(identical(readBin(file, "raw", file.size(file)), model$model))
saveRDS(model, file)
stopifnot(identical(predict(readRDS(file), iris), classes))

# Pictures.
pdf(NULL)
plot(model)
plot(cars)
plot(perceptron(Species ~ Petal.Length + Petal.Width, iris, algorithm = "perceptron"))
plot(perceptron(mpg ~ wt + hp, mtcars, algorithm = "ridge"))
plot(perceptron(Species ~ ., two, algorithm = "perceptron", holdout = 0))
invisible(dev.off())
