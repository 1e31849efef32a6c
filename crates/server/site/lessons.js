// The lecture in 60 seconds: whole states of the page, and what there is to see in each.

export const LESSONS = [
  ['The first mistake', 'data=lecture&bias=none&round=1', 'Four points, and weights of zero: a score of 0 is a mistake, so the example is added to the weights.'],
  ['The second mistake', 'data=lecture&bias=none&round=2', 'The line turns: this example is subtracted. The arrows show w, the example, and their sum.'],
  ['To convergence', 'data=lecture&bias=none&round=2&speed=4', 'Press Play and watch the meters of the proof: mistakes never exceed (R/γ)².'],
  ['XOR', 'data=xor&round=4', 'No line separates these four points. The weights return to zero, and the certificate names the rows that contradict each other.'],
  ['The kernel that solves it', 'data=xor&speed=4&learner=perceptron/last&learner=perceptron/last/kernel:polynomial,degree=2', 'The same rows in the same order, side by side. Press Play.'],
  ['Noise', 'data=voted&order=shuffle-epoch&epochs=30&round=900&learner=perceptron/last&learner=perceptron/averaged&learner=perceptron/voted&learner=perceptron/pocket', 'The last weights have just reacted to one row. Averages, votes and the pocket are steadier.'],
  ['Scale and order', 'data=iris&scaled=&order=given&epochs=30&round=4500&learner=perceptron/last', 'Rows sorted by class, columns unscaled: half of the rows are misclassified. Standardize the columns and shuffle, and compare.'],
  ['The learning rate', 'data=margin&round=12&learner=perceptron/last&learner=perceptron/last/rate:0.1', 'From zero weights, a constant learning rate only rescales w: both lines are the same.'],
];
