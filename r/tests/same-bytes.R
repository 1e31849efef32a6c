# The same rows give the bytes of the native program, which the variable ROSENBLATT names.
library(rosenblatt)
program <- Sys.getenv("ROSENBLATT")
if (nzchar(program)) {
    same <- function(frame, formula, words = character(), ...) {
        folder <- tempfile()
        dir.create(folder)
        rows <- file.path(folder, "rows.csv")
        model <- file.path(folder, "rows.model")
        utils::write.csv(frame, rows, row.names = FALSE, na = "")
        label <- as.character(formula[[2]])
        status <- system2(program, c("train", shQuote(rows), "--label", label, "--model", shQuote(model), "--quiet", words))
        stopifnot(status == 0)
        native <- readBin(model, "raw", file.size(model))
        read <- utils::read.csv(rows, check.names = FALSE)
        stopifnot(identical(perceptron(formula, read, ...)$model, native))
        # Factors are what their levels are.
        read <- utils::read.csv(rows, check.names = FALSE, stringsAsFactors = TRUE)
        stopifnot(identical(perceptron(formula, read, ...)$model, native))
        unlink(folder, recursive = TRUE)
    }
    same(iris, Species ~ .)
    same(mtcars, mpg ~ .)
    same(transform(mtcars, gear = paste("gear", gear)), am ~ .)
    same(transform(airquality, hot = ifelse(Temp > 80, "hot", "cold"))[-4], hot ~ ., c("--missing", "mean"), missing = "mean")
    same(iris, Species ~ ., c("--algorithm", "pa1", "--param", "C=0.1", "--seed", "3"), algorithm = "pa1", param = c(C = 0.1), seed = 3)
}
