library(rosenblatt)

proof <- certify(Species ~ ., iris, positive = "setosa")
stopifnot(inherits(proof, "certificate"), proof$separable, proof$margin[1] > 0.8, proof$margin[2] < 0.82)
stopifnot(length(proof$weights) == 4, length(proof$rows) > 0)
stopifnot(check_certificate(proof, Species ~ ., iris), check_certificate(proof$text, Species ~ ., iris))
stopifnot(any(grepl("separates setosa from all others", capture.output(print(proof)))))

# A proof about other rows is none.
other <- iris
other$Petal.Width[1] <- 9
wrong <- tryCatch(check_certificate(proof, Species ~ ., other), rosenblatt_error = conditionMessage)
stopifnot(is.character(wrong))

all <- certify(Species ~ ., iris, seconds = 20)
stopifnot(identical(names(all), levels(iris$Species)), !all$versicolor$separable)

xor <- data.frame(a = c(0, 0, 1, 1), b = c(0, 1, 0, 1), y = c("same", "other", "other", "same"))
proof <- certify(xor[1:2], xor$y)
stopifnot(!proof$separable, identical(sort(proof$rows), c(1, 2, 3, 4)))
stopifnot(certify(y ~ ., xor, degree = 2)$separable)
