certify <- function(x, ...) {
    UseMethod("certify")
}

certify.formula <- function(formula, data = environment(formula), ...) {
    call <- match.call()
    call[[1]] <- quote(certify)
    frame <- frame_of(formula, data, list(), call)$frame
    look_for_proof(frame, names(frame)[1], call, ...)
}

certify.default <- function(x, y, ...) {
    call <- match.call()
    call[[1]] <- quote(certify)
    given <- joined(x, y, call)
    look_for_proof(given$frame, given$label, call, ...)
}

look_for_proof <- function(frame, label, call, positive = NULL, against = NULL, bias = TRUE, degree = NULL,
                           offset = 1, gap = 1e-6, seconds = 60, ...) {
    asked <- list(bias = bias, gap = gap, seconds = seconds)
    asked$positive <- if (!is.null(positive)) as.character(positive)
    asked$against <- if (!is.null(against)) as.character(against)
    if (!is.null(degree)) {
        asked$kernel <- list(degree = degree, offset = offset)
    }
    found <- engine(
        .Call(
            wrap__certify, asked, columns_of(frame), enc2utf8(label), categories_of(frame, label),
            settings_of(..., call = call)
        ),
        call = call
    )
    found <- lapply(found, certificate, reading = list(...))
    if (length(found) == 1) {
        return(found[[1]])
    }
    names(found) <- vapply(found, function(one) one$positive, character(1))
    structure(found, class = "certificates")
}

certificate <- function(found, reading = list()) {
    findings <- found$findings
    claim <- found$claim$claim
    margin <- claim$margin
    proof <- if (!is.null(claim$contradiction)) claim$contradiction else margin$nearest
    structure(
        list(
            separable = if (is.null(claim)) NA else claim$verdict == "separable",
            positive = findings$positive,
            negative = findings$negative,
            margin = if (!is.null(margin)) c(margin$at_least, margin$at_most),
            weights = as.numeric(claim$weights),
            intercept = as.numeric(claim$intercept),
            rows = vapply(proof, function(one) one$row, numeric(1)),
            findings = findings,
            text = found$text,
            reading = reading
        ),
        class = "certificate"
    )
}

check_certificate <- function(certificate, formula, data = environment(formula)) {
    text <- if (inherits(certificate, "certificate")) certificate$text else paste(certificate, collapse = "\n")
    if (is.null(text)) {
        refuse("the question is still open, so there is no certificate; give it more seconds")
    }
    reading <- if (inherits(certificate, "certificate")) certificate$reading else list()
    frame <- frame_of(formula, data, list())$frame
    label <- names(frame)[1]
    engine(
        .Call(wrap__check_proof, text, columns_of(frame), enc2utf8(label), categories_of(frame, label), reading)
    )
}

print.certificate <- function(x, ...) {
    others <- if (is.null(x$negative)) "all others" else x$negative
    verdict <- if (is.na(x$separable)) {
        "it is still open whether a hyperplane separates"
    } else if (x$separable) {
        "a hyperplane separates"
    } else {
        "no hyperplane separates"
    }
    cat(verdict, " ", x$positive, " from ", others, "\n", sep = "")
    if (isTRUE(x$separable) && length(x$margin) == 2) {
        cat("the largest margin lies between ", format(x$margin[1]), " and ", format(x$margin[2]), "\n", sep = "")
    }
    if (length(x$rows) > 0) {
        why <- if (isTRUE(x$separable)) "nearest to it" else "proof: these rows contradict each other"
        cat(why, ": rows ", paste(utils::head(x$rows, 20), collapse = ", "), if (length(x$rows) > 20) ", ...", "\n", sep = "")
    }
    invisible(x)
}

print.certificates <- function(x, ...) {
    lapply(x, print)
    invisible(x)
}
