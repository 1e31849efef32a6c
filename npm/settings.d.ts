// The settings of Rosenblatt. Written by a test of `crates/web` from their declarations: do not edit.

/** How a file is read. */
export interface ReadingSettings {
  /** Format of the source. */
  readonly format?: string;
  /** Label column, by name or number. 1 is the first, -1 the last. */
  readonly label?: number | string;
  /** Column of row weights, by name or number. */
  readonly weight?: string;
  /** Columns to leave out, by name or number. */
  readonly ignore?: string | readonly string[];
  /** Columns whose numbers are categories, by name or number. */
  readonly categorical?: string | readonly string[];
  /** Whether the first line holds column names. */
  readonly header?: boolean;
  /** Character that separates cells; `tab` for a tab. */
  readonly delimiter?: string;
  /** What becomes of missing values. */
  readonly missing?: 'error' | 'mean' | 'median' | 'most-frequent' | 'zero' | 'drop' | 'own';
  /** Whether features are numbered from 0 instead of 1 (libsvm). */
  readonly zeroBased?: boolean;
  /** Precision in which values are stored. */
  readonly precision?: 'f32' | 'f64';
  /** Hash features into a table of 2^BITS. */
  readonly hashBits?: number;
  /** How features are scaled. */
  readonly scale?: 'auto' | 'none' | 'standard' | 'min-max' | 'max-abs' | 'unit-norm';
  /** Straight lines or curves for columns of numbers. Curves are made of lines between knots. */
  readonly shape?: 'line' | 'curves' | 'auto' | (string & {});
  /** Text columns of a table, by name or number. The words of each become features; with a model of messages, the column that holds them. */
  readonly text?: string | readonly string[];
  /** Pairs of columns, or namespaces, whose features are multiplied with each other. */
  readonly cross?: readonly (readonly [string, string])[];
  /** What becomes of a category that the model did not learn from. The model does not keep this choice. */
  readonly unknown?: 'ignore' | 'error';
  /** Leave out rows that cannot be read, instead of stopping at the first. */
  readonly skipBadRows?: boolean;
  /** Make features of characters instead of words. */
  readonly characters?: boolean;
  /** Make features of runs of words: N for N words, A-B for A to B of them. */
  readonly ngrams?: number | readonly [number, number];
  /** Weight of a word in a text. With tf-idf, rows have length 1 (L2). If there are more than 1,000 texts, words and runs that occur in fewer than 3 are left out. */
  readonly words?: 'count' | 'binary' | 'frequency' | 'tf-idf';
  /** Maximum length of a line, or of a record that spans several, in bytes. */
  readonly maxLine?: number;
  /** Maximum number of features. */
  readonly maxFeatures?: number;
  /** Maximum number of classes. */
  readonly maxClasses?: number;
  /** Maximum number of different words, or runs of words. */
  readonly maxVocabulary?: number;
  /** Maximum size of a picture, in pixels. */
  readonly maxPixels?: number;
}

/** How a training goes. */
export interface TrainingSettings extends ReadingSettings {
  /** Whether classes or numbers are predicted. */
  readonly task?: 'auto' | 'classification' | 'regression';
  /** Turn off: Refit on all rows once the error is estimated. If it is off, the kept model is the one that was judged, which did not learn from the held-out rows; folds need it on. */
  readonly noRefit?: boolean;
  /** Turn off: Keep the predictions of held-out rows with the model. For up to 10,000 rows these are their numbers, classes and scores, by which a report and figures judge the model. */
  readonly noHeldOutScores?: boolean;
  /** How the scores of held-out rows become probabilities. */
  readonly calibrate?: 'auto' | 'off' | 'platt' | 'isotonic';
  /** Column of times, by name or number. Race, folds and held-out rows are then split by it: rows are judged by what was learned from earlier ones, and the column is no feature. It holds numbers, or dates such as 2024-05-31. */
  readonly time?: string;
  /** Column of groups, such as patients or users. Race, folds and held-out rows are then split by it: no group is both learned from and judged, and the column is no feature. */
  readonly group?: string;
  /** Positive class. If there are more than two classes, it is separated from all others together. */
  readonly positive?: string;
  /** Learn in one epoch, in the memory of a few blocks. Rows come in their order. Each row is predicted before it is learned from, and the errors of those predictions are the estimate. There is no race. */
  readonly online?: boolean;
  /** Update rule, or `auto`: a race of several. The table of algorithms lists all, each with its formula, its source and its parameters. */
  readonly algorithm?: 'auto' | 'perceptron' | 'fixed-margin' | 'half-margin' | 'paum' | 'dynamic-margin' | 'alma' | 'romma' | 'aggressive-romma' | 'pa' | 'pa1' | 'pa2' | 'arow' | 'batch' | 'minover' | 'logistic' | 'hinge' | 'pegasos' | 'svm-dual' | 'logistic-dual' | 'logistic-l1' | 'ridge' | 'huber' | 'quantile' | 'svr' | 'lms' | 'pa-regression' | 'mlp';
  /** Parameters of the update rule, by name. Parameters that are left out have their defaults. */
  readonly param?: Readonly<Record<string, number>>;
  /** Learning rate: a number, or a schedule such as 0.5/k, 1/sqrt(k) or 1/k^0.25. */
  readonly rate?: number | (string & {});
  /** Which weights the model keeps: the last ones, their average, all of them to vote, or the best. */
  readonly readout?: 'last' | 'averaged' | 'averaged-pre' | 'averaged-both' | 'averaged-running' | 'voted' | 'pocket' | 'random' | (string & {});
  /** Whether the pocket counts errors on all training rows before it replaces its weights. Without that, the weights with the longest run of correct predictions win (readout pocket). */
  readonly ratchet?: boolean;
  /** How more than two classes are separated. A race also tries one-vs-one. */
  readonly multiclass?: 'one-vs-rest' | 'one-vs-one' | 'direct-max' | 'direct-uniform' | 'direct-proportional';
  /** What a score of zero predicts. */
  readonly zero?: 'plus' | 'minus' | 'random' | 'wrong';
  /** What counts as a mistake: a margin of at most 0 (le0), below 0 (lt0), or a wrong prediction (pred). */
  readonly mistake?: 'le0' | 'lt0' | 'pred';
  /** How the bias is learned. */
  readonly bias?: 'none' | 'learned' | (string & {});
  /** Order in which rows are visited. */
  readonly order?: 'given' | 'shuffle-once' | 'shuffle-epoch' | 'draws' | 'worst' | (string & {});
  /** Seed of every random choice. */
  readonly seed?: number;
  /** Maximum number of epochs. Each visits every training row. Candidates of a race have numbers of their own. */
  readonly epochs?: number;
  /** Maximum number of updates. */
  readonly maxUpdates?: number;
  /** Whether training stops when nothing is left to learn. That is after an epoch without a mistake or an update, when the rule has converged, or when the weights of an earlier epoch return under an order that repeats. */
  readonly stopWhenClean?: boolean;
  /** Weight of each class: even, balanced (rare classes weigh more), or a number by class. */
  readonly classWeight?: 'balanced' | Readonly<Record<string, number>>;
  /** Cost of mistakes, by which a model with probabilities names the class of least expected cost. Even, balanced (inversely proportional to class frequency), a threshold for the positive class, or a number by class or by TRUE:NAMED: with yes=5, missing a row of class yes costs 5. */
  readonly cost?: 'balanced' | Readonly<Record<string, number>>;
  /** Number of epochs without progress on the validation set after which training stops. */
  readonly patience?: number;
  /** Kernel to learn with. */
  readonly kernel?: 'linear' | 'polynomial' | 'rbf' | 'sigmoid' | 'laplacian' | 'intersection' | 'cosine' | 'precomputed';
  /** Whether every hypothesis is divided by its length before the model is made of it. */
  readonly unitHypotheses?: boolean;
  /** Memory for kernel values that are kept or computed ahead. Changes nothing but the time. */
  readonly kernelMemory?: number | string;
  /** Maximum number of support vectors. */
  readonly supportBudget?: number;
  /** Which support vector makes room at that limit. projectron: the new row, projected on the others; forgetron: the oldest, after all were shrunk; random: any. */
  readonly removal?: 'random' | 'forgetron' | 'projectron';
  /** Feature map that stands in for a kernel, at the speed of a hyperplane. */
  readonly map?: 'fourier' | 'nystroem' | 'sketch';
  /** Maximum number of features that the map makes. */
  readonly mapSize?: number;
  /** Units of every hidden layer (mlp): 64 for one layer, 64,32 for two. */
  readonly hidden?: readonly number[];
  /** Activation function of hidden units (mlp). */
  readonly activation?: 'relu' | 'tanh' | 'logistic' | 'identity';
  /** Loss of the scores (mlp). */
  readonly outputLoss?: 'softmax' | 'hinge' | 'perceptron';
  /** Optimiser that descends the gradient (mlp). */
  readonly optimiser?: 'adam' | 'sgd';
  /** Of a kernel: the degree of a polynomial. */
  readonly degree?: number | 'scale' | 'auto';
  /** Of a kernel: the kernel's factor: scale (1 / features / variance), auto (1 / features) or a number. */
  readonly gamma?: number | 'scale' | 'auto';
  /** Of a kernel: the number added to the product. */
  readonly offset?: number | 'scale' | 'auto';
  /** Share of the rows to estimate the error on; 0 for no estimate. */
  readonly holdout?: number;
  /** Number of folds to estimate the error on. */
  readonly folds?: number;
  /** All classes, in their order. */
  readonly classes?: readonly string[];
  /** Predict the positive class where its probability is at least this. */
  readonly threshold?: number;
}
