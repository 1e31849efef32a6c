perceptron <- function(x, ...) {
    UseMethod("perceptron")
}

perceptron.formula <- function(formula, data = environment(formula), ..., keep = TRUE) {
    call <- match.call()
    call[[1]] <- quote(perceptron)
    settings <- settings_of(..., call = call)
    meant <- frame_of(formula, data, settings, call)
    if (attr(meant$terms, "intercept") == 0 && is.null(settings$bias)) {
        settings$bias <- "none"
    }
    object <- fit(meant$frame, names(meant$frame)[1], settings, call, keep)
    object$terms <- meant$terms
    object
}

perceptron.default <- function(x, y, ..., keep = TRUE) {
    call <- match.call()
    call[[1]] <- quote(perceptron)
    given <- joined(x, y, call)
    fit(given$frame, given$label, settings_of(..., call = call), call, keep)
}

fit <- function(frame, label, settings, call, keep) {
    response <- frame[[label]]
    if (!is.numeric(response) && is.null(settings$task)) {
        settings$task <- "classification"
    }
    answer <- engine(
        .Call(wrap__train, columns_of(frame), enc2utf8(label), categories_of(frame, label), settings),
        call = call
    )
    object <- as_perceptron(answer$model)
    object[names(answer$story)] <- answer$story
    object$call <- call
    object$features <- setdiff(names(frame), label)
    object$response <- list(
        name = label,
        levels = levels(response),
        kind = if (is.factor(response)) class(response)[1] else typeof(response)
    )
    if (keep) {
        object$frame <- frame
    }
    object
}

# What the bytes of a model say of themselves.
as_perceptron <- function(model, call = sys.call(-1)) {
    described <- engine(.Call(wrap__describe, model, 10L), call = call)
    structure(
        list(model = model, task = described$task, classes = as.character(described$classes), algorithm = described$spec$algorithm),
        class = "perceptron"
    )
}

save_model <- function(object, file) {
    if (!inherits(object, "perceptron")) {
        refuse("expected a model of perceptron()")
    }
    engine(.Call(wrap__save, object$model, enc2utf8(path.expand(file))))
    invisible(object)
}

load_model <- function(file) {
    as_perceptron(engine(.Call(wrap__load, enc2utf8(path.expand(file)))))
}

# New rows with the columns that a model has learned from.
new_rows <- function(object, newdata) {
    if (is.null(object$terms)) {
        return(as.data.frame(newdata, stringsAsFactors = FALSE))
    }
    terms <- stats::delete.response(object$terms)
    variables <- attr(terms, "predvars")
    if (is.null(variables)) {
        variables <- attr(terms, "variables")
    }
    variables <- as.list(variables)[-1]
    # Columns that split or weigh rows need not be there any more.
    is_there <- !vapply(variables, is.name, logical(1)) |
        vapply(variables, function(one) is.name(one) && as.character(one) %in% names(newdata), logical(1))
    names(variables) <- object$features[seq_along(variables)]
    frame <- lapply(variables[is_there], eval, newdata, environment(object$terms))
    as.data.frame(frame, optional = TRUE, stringsAsFactors = FALSE)
}

predict.perceptron <- function(object, newdata, type = c("class", "prob", "score"), ...) {
    type <- match.arg(type)
    if (missing(newdata)) {
        if (is.null(object$frame)) {
            refuse("there are no rows to predict; name them with newdata")
        }
        frame <- object$frame[setdiff(names(object$frame), object$response$name)]
        n_rows <- nrow(frame)
    } else {
        newdata <- if (is.data.frame(newdata)) newdata else as.data.frame(newdata, stringsAsFactors = FALSE)
        frame <- new_rows(object, newdata)
        n_rows <- nrow(newdata)
    }
    is_number <- object$task == "numbers"
    what <- if (type == "prob") "probabilities" else if (type == "score" || is_number) "scores" else "classes"
    if (n_rows == 0) {
        answer <- list(values = numeric(), width = 1L)
    } else {
        answer <- engine(.Call(wrap__predict, object$model, columns_of(frame), what))
    }
    if (length(answer$values) != n_rows * max(answer$width, 1)) {
        refuse("the engine answered ", length(answer$values), " values for ", n_rows, " rows")
    }
    answer$values[is.nan(answer$values)] <- NA
    if (what == "classes") {
        return(as_response(object, answer$values))
    }
    if (answer$width <= 1 && what == "scores") {
        return(answer$values)
    }
    answer <- matrix(answer$values, ncol = max(answer$width, 1), byrow = TRUE)
    if (ncol(answer) == length(object$classes)) {
        colnames(answer) <- object$classes
    }
    answer
}

# Classes by number in the type that the response had.
as_response <- function(object, numbers) {
    classes <- object$classes
    response <- object$response
    kind <- if (is.null(response)) "factor" else response$kind
    switch(kind,
        character = classes[numbers],
        logical = as.logical(classes[numbers]),
        double = , integer = as.numeric(classes)[numbers],
        {
            known <- if (is.null(response$levels)) classes else response$levels
            places <- match(classes, trimws(known))
            if (anyNA(places)) {
                known <- classes
                places <- seq_along(classes)
            }
            factor(known[places][numbers], levels = known, ordered = kind == "ordered")
        }
    )
}

coef.perceptron <- function(object, ...) {
    planes <- engine(.Call(wrap__planes, object$model))
    if (is.null(planes)) {
        refuse("the model has no weights: it votes, or has a kernel or a network")
    }
    n_planes <- length(planes$biases)
    n_features <- length(planes$weights) / n_planes
    names <- if (length(planes$names) == n_features) planes$names else paste0("feature", seq_len(n_features))
    weights <- rbind(planes$biases, matrix(planes$weights, ncol = n_planes))
    outputs <- summary(object)$hyperplanes
    outputs <- if (length(outputs) == n_planes) vapply(outputs, function(one) one[["for"]], "") else NULL
    dimnames(weights) <- list(c("(Intercept)", names), outputs)
    if (n_planes == 1) weights[, 1] else weights
}

summary.perceptron <- function(object, ...) {
    described <- engine(.Call(wrap__describe, object$model, 10L))
    described$call <- object$call
    described[c("estimate", "training", "race", "notes", "scaling")] <-
        object[c("estimate", "training", "race", "notes", "scaling")]
    structure(described, class = "summary.perceptron")
}

percent <- function(share) {
    paste(format(100 * share, digits = 3), "%")
}

# How good a model is on rows that it did not learn from, in one line.
estimate_line <- function(estimate) {
    if (!is.null(estimate$rmse)) {
        sprintf(
            "root mean squared error on held-out rows: %s (%d rows); always predicting the mean: %s; R2 %s",
            format(estimate$rmse$value, digits = 4), as.integer(estimate$rows),
            format(estimate$mean_rmse, digits = 4), format(estimate$r2$value, digits = 3)
        )
    } else if (!is.null(estimate$error)) {
        sprintf(
            "error on held-out rows: %s (%d of %d rows; 95 %% confidence interval %s to %s)",
            percent(estimate$error), as.integer(estimate$errors), as.integer(estimate$rows),
            percent(estimate$interval[1]), percent(estimate$interval[2])
        )
    }
}

print.perceptron <- function(x, ...) {
    if (!is.null(x$call)) {
        cat("Call: ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
    }
    answer <- if (x$task == "numbers") "a number" else paste("one of", paste(x$classes, collapse = ", "))
    cat("algorithm ", x$algorithm, ", predicts ", answer, "\n", sep = "")
    if (!is.null(x$estimate)) {
        cat(estimate_line(x$estimate), "\n", sep = "")
    }
    invisible(x)
}

print.summary.perceptron <- function(x, ...) {
    if (!is.null(x$call)) {
        cat("Call: ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
    }
    cat("algorithm ", x$spec$algorithm, ", read out ", x$readout, ": ", x$training_summary$epochs,
        " epochs over ", x$training_summary$rows, " rows of ", x$features, " features\n",
        sep = ""
    )
    if (!is.null(x$race)) {
        cat("chosen by a race of ", length(x$race$entrants), " candidates\n", sep = "")
    }
    if (!is.null(x$estimate)) {
        cat(estimate_line(x$estimate), "\n", sep = "")
    }
    if (!is.null(x$estimate$confusion)) {
        confusion <- do.call(rbind, x$estimate$confusion)
        dimnames(confusion) <- list(true = x$classes, predicted = x$classes)
        cat("\nconfusion matrix of held-out rows:\n")
        print(confusion)
    }
    importance <- importance_of(x)
    if (length(importance) > 0) {
        cat("\ncolumns that matter, by the rise of the loss when one is shuffled:\n")
        print(signif(importance, 3))
    }
    for (note in unlist(x$notes)) {
        cat(strwrap(paste("note:", note), exdent = 2), sep = "\n")
    }
    invisible(x)
}

# The rise of the loss on held-out rows when a column is shuffled, by column.
importance_of <- function(described) {
    columns <- described$importance$columns
    stats::setNames(
        vapply(columns, function(one) one$rise, numeric(1)),
        vapply(columns, function(one) one$column, character(1))
    )
}
