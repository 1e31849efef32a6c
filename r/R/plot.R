plot.perceptron <- function(x, data = x$frame, ...) {
    described <- summary(x)
    columns <- described$columns
    is_plane <- length(columns) == 2 && all(vapply(columns, function(one) one$kind == "number", logical(1)))
    names <- vapply(columns, function(one) one$name, character(1))
    if (is_plane && is.data.frame(data) && all(names %in% names(data))) {
        plot_boundary(x, data, names, ...)
    } else {
        plot_importance(x, described, ...)
    }
    invisible(x)
}

# Regions of the plane by class, or heights by number, and the rows on top.
plot_boundary <- function(x, data, names, n = 120, col = NULL, xlab = names[1], ylab = names[2], pch = 19, ...) {
    axis <- function(name) {
        range <- grDevices::extendrange(data[[name]])
        seq(range[1], range[2], length.out = n)
    }
    axes <- list(axis(names[1]), axis(names[2]))
    grid <- expand.grid(axes)
    names(grid) <- names
    asked <- x
    # The plane is that of the columns as the model has them, whatever the formula made them of.
    asked$terms <- NULL
    is_number <- x$task == "numbers"
    if (is_number) {
        heights <- predict(asked, grid)
        if (is.null(col)) {
            col <- grDevices::hcl.colors(20, "Blues 3", rev = TRUE)
        }
        fill <- col
        points <- "black"
    } else {
        asked$response <- NULL
        heights <- as.integer(predict(asked, grid))
        if (is.null(col)) {
            col <- grDevices::hcl.colors(length(x$classes), "Dark 3")
        }
        fill <- grDevices::adjustcolor(col, alpha.f = 0.25)
        response <- if (is.null(x$response)) NULL else data[[x$response$name]]
        points <- if (is.null(response)) "black" else col[match(trimws(as.character(response)), x$classes)]
    }
    graphics::image(axes[[1]], axes[[2]], matrix(heights, n), col = fill, xlab = xlab, ylab = ylab,
        zlim = if (is_number) range(heights) else c(1, max(2, length(x$classes))), ...
    )
    if (!is_number && length(x$classes) > 1) {
        for (class in seq_along(x$classes)) {
            graphics::contour(axes[[1]], axes[[2]], matrix(as.numeric(heights == class), n),
                levels = 0.5, drawlabels = FALSE, add = TRUE
            )
        }
        # Above the picture, where there are no rows.
        graphics::legend("bottom", inset = c(0, 1.01), legend = x$classes, col = col, pch = pch, horiz = TRUE, bty = "n", xpd = NA)
    }
    graphics::points(data[[names[1]]], data[[names[2]]], pch = pch, col = points)
}

# What each column, or else each feature, means to the model.
plot_importance <- function(x, described, most = 20, main = NULL, xlab = NULL, ...) {
    bars <- importance_of(described)
    what <- "rise of the loss on held-out rows when a column is shuffled"
    if (length(bars) == 0) {
        weights <- as.matrix(coef(x))[-1, , drop = FALSE]
        bars <- stats::setNames(apply(abs(weights), 1, max), rownames(weights))
        what <- "size of the largest weight"
    }
    bars <- rev(utils::head(sort(bars, decreasing = TRUE), most))
    saved <- graphics::par(mar = graphics::par("mar") + c(0, min(12, max(nchar(names(bars))) / 3), 0, 0))
    on.exit(graphics::par(saved))
    graphics::barplot(bars, horiz = TRUE, las = 1, main = main, xlab = if (is.null(xlab)) what else xlab, ...)
}
