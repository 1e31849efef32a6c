// The lecture in 60 seconds: whole states of the page, with a caption for each, and more for the steps from there.

const FOUR_POINTS = {
  0: 'Four points, and w = (0, 0): every score is 0. Step to the first example.',
  1: 'Row 1 is positive, and its score of 0 is a mistake: it is added, and w = (4, 0).',
  2: 'Row 2 is negative, and its score of 4 is a mistake: it is subtracted, and w = (3, −1).',
  3: 'Row 3 is negative, and its score of −1 is right: nothing moves.',
  4: 'Row 4 is positive, and its score of −4 is a mistake: it is added, and w = (1, −3).',
  5: 'The second epoch shows the same rows to the same weights.',
  8: 'A whole epoch without a mistake: the run has converged, after 3 mistakes.',
};
const XOR = {
  0: 'Two classes on opposite corners. Step, and watch the weights.',
  1: 'Row 1 is a mistake and is added: w = (1, 1), b = 1.',
  2: 'Row 2 is a mistake and is subtracted: w = (0, 2), b = 0.',
  3: 'Row 3 is a mistake and is subtracted: w = (1, 1) again, now with b = −1.',
  4: 'Row 4 is a mistake and is added: w = (0, 0), b = 0, as at the start. The next epoch repeats this one.',
};

export const LESSONS = [
  ['The first mistake', 'data=lecture&bias=none&round=1', 'Four points, and weights of zero: a score of 0 is a mistake, so the example is added to the weights.', FOUR_POINTS],
  ['The second mistake', 'data=lecture&bias=none&round=2', 'The line turns: this example is subtracted. The arrows show w, the example, and their sum.', FOUR_POINTS],
  ['To convergence', 'data=lecture&bias=none&round=2&speed=4', 'Press Play and watch the meters of the proof: mistakes never exceed (R/γ)².', FOUR_POINTS],
  ['XOR', 'data=xor&round=4', 'No line separates these four points. The weights return to zero, and the certificate names the rows that contradict each other.', XOR],
  ['The kernel that solves it', 'data=xor&speed=4&learner=perceptron/last&learner=perceptron/last/kernel:polynomial,degree=2', 'The same rows in the same order, side by side. Press Play.'],
  ['Noise', 'data=voted&order=shuffle-epoch&epochs=30&round=900&learner=perceptron/last&learner=perceptron/averaged&learner=perceptron/voted&learner=perceptron/pocket', 'The last weights have just reacted to one row. Averages, votes and the pocket are steadier.'],
  ['Scale and order', 'data=iris&scaled=&order=given&epochs=30&round=4500&learner=perceptron/last', 'Rows sorted by class, columns unscaled: half of the rows are misclassified. Standardize the columns and shuffle, and compare.'],
  ['The learning rate', 'data=margin&round=12&learner=perceptron/last&learner=perceptron/last/rate:0.1', 'From zero weights, a constant learning rate only rescales w: both lines are the same.'],
  ['Other start weights', 'data=margin&start=-2,3&round=12&learner=perceptron/last&learner=perceptron/last/rate:0.1', 'From other weights, the learning rate matters: small steps take longer to leave them.'],
];
