# The engine's answers as R has them. What fails is a condition of class `rosenblatt_error` with the engine's message.

engine <- function(answer, call = sys.call(-1)) {
    if (!is.null(answer$error)) {
        refuse(answer$error, call = call)
    }
    if (isTRUE(answer$interrupt)) {
        signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = call)))
        invokeRestart("abort")
    }
    answer$value
}

refuse <- function(..., call = sys.call(-1)) {
    stop(structure(
        class = c("rosenblatt_error", "error", "condition"),
        list(message = paste0(...), call = call)
    ))
}

# A data frame as the columns that the engine takes: numbers, switches and texts.
columns_of <- function(frame) {
    columns <- Map(column_of, frame, names(frame))
    names(columns) <- enc2utf8(names(frame))
    columns
}

column_of <- function(values, name) {
    if (length(dim(values)) > 1 && ncol(values) != 1) {
        refuse("column `", name, "` is a matrix; give each of its columns a name of its own", call = NULL)
    }
    if (is.factor(values) || inherits(values, c("Date", "POSIXt"))) {
        return(enc2utf8(as.character(values)))
    }
    if (inherits(values, c("difftime", "AsIs"))) {
        values <- unclass(values)
    }
    if (is.character(values)) {
        return(enc2utf8(as.vector(values)))
    }
    # Numbers of other packages, such as integers of 64 bits, are read by their digits.
    if (is.object(values)) {
        return(enc2utf8(as.character(values)))
    }
    if (is.numeric(values) || is.logical(values)) {
        return(as.vector(values))
    }
    refuse("column `", name, "` holds neither numbers nor texts", call = NULL)
}

# Columns that are names for R, though their values look like numbers.
categories_of <- function(frame, label) {
    is_category <- function(values) {
        texts <- if (is.factor(values)) levels(values) else if (is.character(values)) unique(values)
        texts <- texts[!is.na(texts)]
        length(texts) > 0 && !anyNA(suppressWarnings(as.numeric(texts)))
    }
    features <- frame[setdiff(names(frame), label)]
    as.character(enc2utf8(names(features)[vapply(features, is_category, logical(1))]))
}

# Settings by name, as they were given.
settings_of <- function(..., call = sys.call(-1)) {
    settings <- list(...)
    if (length(settings) > 0 && (is.null(names(settings)) || any(names(settings) == ""))) {
        refuse("a setting has no name; name all settings, such as epochs = 20", call = call)
    }
    settings
}

# The frame that a formula means, its response first, with the columns that settings name.
frame_of <- function(formula, data, settings, call = sys.call(-1)) {
    frame <- stats::model.frame(formula, data, na.action = stats::na.pass)
    terms <- attr(frame, "terms")
    if (attr(terms, "response") == 0) {
        refuse("the formula has no response; write what is predicted on its left", call = call)
    }
    if (any(attr(terms, "order") > 1)) {
        refuse("the formula has an interaction; multiply columns with cross = c(\"a\", \"b\")", call = call)
    }
    if (length(attr(terms, "offset")) > 0) {
        refuse("the formula has an offset, which no perceptron takes", call = call)
    }
    named <- unlist(settings[intersect(names(settings), c("weight", "time", "group"))])
    for (name in setdiff(intersect(named, names(data)), names(frame))) {
        frame[[name]] <- data[[name]]
    }
    list(frame = as.data.frame(as.list(frame), optional = TRUE, stringsAsFactors = FALSE), terms = terms)
}

# Rows of x and their targets as one frame.
joined <- function(x, y, call = sys.call(-1)) {
    frame <- as.data.frame(x, stringsAsFactors = FALSE)
    if (NROW(y) != nrow(frame)) {
        refuse("there are ", nrow(frame), " rows, but ", NROW(y), " targets", call = call)
    }
    label <- utils::tail(make.unique(c(names(frame), "y")), 1)
    frame[[label]] <- if (is.data.frame(y)) y[[1]] else y
    list(frame = frame, label = label)
}
