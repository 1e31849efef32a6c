// Uses every type of the package. What should not compile stands below `@ts-expect-error`, which is an error where it does.

import { certify, check, load, Model, train } from 'rosenblatt';
import type {
  Certificate, CertifyOptions, Data, Evaluation, Json, Named, NumberEvaluation, ReadingSettings, ReadOptions, Report, Row,
  Study, TrainingSettings, TrainOptions,
} from 'rosenblatt';

const row: Row = { size: 1, colour: 'red', known: true, count: 3n, missing: null };
const data: Data = [row, row];
const named: Named = { name: 'rows.csv' };
const reading: ReadingSettings = { label: -1, ignore: ['id'], missing: 'mean', delimiter: ';', shape: 'bend(knots=4)' };
const settings: TrainingSettings = {
  ...reading, algorithm: 'pa1', param: { C: 1 }, hidden: [8, 4], classWeight: 'balanced', cross: [['a', 'b']], noRefit: true,
  rate: '1/sqrt(k)', holdout: 0.2, kernel: 'rbf', gamma: 'scale',
};
const options: TrainOptions = { ...settings, ...named };
const read: ReadOptions = { ...named, header: true };

const model: Model = await train(data, options);
const same: Model = await load(model.bytes);
const report: Report | null = model.report;
const held: Evaluation | NumberEvaluation | null | undefined = report?.['held-out'];
const part: Json = report?.data.rows ?? null;
const classes: string[] = same.classes;
const features: string[] | null = same.features;
const answers: (string | number | null)[] = same.predict('size\n1\n', read);
const shares: (Record<string, number> | null)[] = same.probabilities(new Uint8Array());
const scores: (number[] | null)[] = same.scores(data);
const error: Json = same.evaluate(data).error ?? null;
const isKnown: boolean = same.hasProbabilities && same.task === 'classes' && same.width > 0;
const summary: { [name: string]: Json } = same.summary(3);
same.free();

const asked: CertifyOptions = { positive: 'yes', degree: 2, label: 'answer' };
const studies: Study[] = await certify(data, asked);
const certificate: Certificate | null = studies[0]?.certificate ?? null;
if (certificate) {
  const { positive }: { positive: string } = await check(certificate, data);
  console.log(positive, held, part, classes, features, answers, shares, scores, error, isKnown, summary);
}

// @ts-expect-error: no such setting
await train(data, { lable: 'x' });
// @ts-expect-error: a number of epochs is a number
await train(data, { epochs: 'many' });
// @ts-expect-error: no such way to fill gaps
await train(data, { missing: 'guess' });
// @ts-expect-error: no such rule
await train(data, { algorithm: 'percetpron' });
// @ts-expect-error: rows are objects
await train([[1, 2]]);
// @ts-expect-error: a promise is not a model
const early: Model = train(data);
// @ts-expect-error: models come of `train` and `load`
new Model();
// @ts-expect-error: a model is bytes
await load('a.model');
// @ts-expect-error: it cannot be set
model.report = null;
