// Tries the installed package beside the program: node --expose-gc try.mjs PROGRAM FOLDER-OF-BUNDLED-DATA

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { certify, check, load, train } from 'rosenblatt';

const [program, folder] = process.argv.slice(2);
const sum = (bytes) => createHash('sha256').update(bytes).digest('hex');
const iris = join(folder, 'iris.csv');
const penguins = join(folder, 'penguins.csv');
const text = readFileSync(iris, 'utf8');

// The same settings twice, as flags and here: the same files.
const trainings = {
  'a race, with curves': [iris, '', {}],
  'a race over missing values': [penguins, '--missing mean --label species', { missing: 'mean', label: 'species' }],
  'a rule': [iris, '--algorithm pa1 --param C=0.5 --seed 7', { algorithm: 'pa1', param: { C: 0.5 }, seed: 7 }],
  'the average': [
    iris,
    '--algorithm perceptron --readout averaged --epochs 9 --order given --holdout 0.3',
    { algorithm: 'perceptron', readout: 'averaged', epochs: 9, order: 'given', holdout: 0.3 },
  ],
  votes: [iris, '--algorithm perceptron --readout voted', { algorithm: 'perceptron', readout: 'voted' }],
  'the pocket': [iris, '--algorithm perceptron --readout pocket', { algorithm: 'perceptron', readout: 'pocket' }],
  'a solver': [iris, '--algorithm logistic-dual', { algorithm: 'logistic-dual' }],
  'a kernel': [
    iris,
    '--algorithm perceptron --kernel rbf --gamma 0.5 --folds 4',
    { algorithm: 'perceptron', kernel: 'rbf', gamma: 0.5, folds: 4 },
  ],
  'a map': [
    penguins,
    '--missing drop --algorithm arow --map fourier --map-size 64',
    { missing: 'drop', algorithm: 'arow', map: 'fourier', mapSize: 64 },
  ],
  'a network': [
    iris,
    '--algorithm mlp --hidden 8,4 --epochs 10 --activation tanh',
    { algorithm: 'mlp', hidden: [8, 4], epochs: 10, activation: 'tanh' },
  ],
  numbers: [
    penguins,
    '--label body_mass_g --missing median --task regression',
    { label: 'body_mass_g', missing: 'median', task: 'regression' },
  ],
  curves: [
    penguins,
    '--label species --missing mean --shape bend --algorithm logistic',
    { label: 'species', missing: 'mean', shape: 'bend', algorithm: 'logistic' },
  ],
  'weights, costs and crosses': [
    penguins,
    '--label sex --missing drop --class-weight balanced --cross island,species --threshold 0.4 --algorithm pa2',
    { label: 'sex', missing: 'drop', classWeight: 'balanced', cross: [['island', 'species']], threshold: 0.4, algorithm: 'pa2' },
  ],
  'a stream': [iris, '--online --algorithm perceptron', { online: true, algorithm: 'perceptron' }],
};

for (const [what, [file, flags, settings]] of Object.entries(trainings)) {
  const words = flags === '' ? [] : flags.split(' ');
  const printed = JSON.parse(execFileSync(program, ['train', file, '--model', 'a.model', '--json', ...words], { encoding: 'utf8' }));
  const wanted = readFileSync('a.model');
  const begun = performance.now();
  const model = await train(readFileSync(file), { name: file, ...settings });
  const seconds = (performance.now() - begun) / 1000;
  console.log(`${sum(model.bytes)} ${what}, ${wanted.length} bytes, ${seconds.toFixed(1)} s`);
  if (sum(model.bytes) !== sum(wanted)) {
    writeFileSync('b.model', model.bytes);
    console.log('the program says', JSON.stringify(printed).slice(0, 2000));
    console.log('the package says', JSON.stringify(model.report).slice(0, 2000));
    assert.fail(`${what}: another file than the program's, ${sum(wanted)}`);
  }
  for (const name of ['seconds', 'bounds', 'model', 'model-bytes']) delete printed[name];
  assert.deepEqual(model.report, printed, what);
  // The same predictions, in the order of the file, and the same errors.
  const lines = execFileSync(program, ['predict', file, '--model', 'a.model', '--json'], { encoding: 'utf8' }).trim().split('\n');
  const expected = lines.map((line) => JSON.parse(line)).map((row) => row.class ?? row.prediction ?? null);
  assert.deepEqual(model.predict(readFileSync(file)), expected, what);
  if (model.hasProbabilities) {
    const shares = execFileSync(program, ['predict', file, '--model', 'a.model', '--json', '--probabilities'], { encoding: 'utf8' });
    const wantedShares = shares.trim().split('\n').map((line) => JSON.parse(line).probabilities ?? null);
    assert.deepEqual(model.probabilities(readFileSync(file)), wantedShares, what);
  }
  const again = await load(wanted);
  assert.deepEqual(again.predict(readFileSync(file)), expected, what);
  assert.equal(sum(again.bytes), sum(wanted), what);
  const judged = JSON.parse(execFileSync(program, ['evaluate', file, '--model', 'a.model', '--json'], { encoding: 'utf8' }));
  const evaluated = again.evaluate(readFileSync(file));
  assert.equal(evaluated.errors, judged.errors ?? judged.evaluation?.errors, what);
}

// Rows as objects are a table, whatever their cells hold.
const rows = Array.from({ length: 40 }, (_, row) => ({
  size: row % 20 === 3 ? null : row % 20,
  'kind, or "sort"': row % 20 < 10 ? 'small "one"' : 'large,\none',
  known: row % 3 === 0,
  answer: row % 20 < 10 ? 'no' : 'yes',
}));
const model = await train(rows, { label: 'answer', missing: 'drop', algorithm: 'perceptron' });
const answers = model.predict(rows);
assert.deepEqual(answers.map((answer, row) => answer ?? (rows[row].size === null && rows[row].answer)), rows.map((row) => row.answer));
assert.equal(answers[3], null);
const [lone] = [await train(rows.map(({ size, answer }) => ({ size, answer })), { label: 'answer', missing: 'drop', algorithm: 'pa1' })];
assert.deepEqual(lone.predict([{ size: 1 }, { size: null }, { size: 19 }]), ['no', null, 'yes']);
assert.deepEqual(lone.scores([{ size: 1 }]).map((of) => of.length), [1]);
assert.equal(lone.summary(1).task, 'classes');
assert.throws(() => model.predict([{ size: Infinity }]), /row 1, `size`: Infinity/);
assert.throws(() => model.predict([{ size: {} }]), /row 1, `size`: a cell should be/);
assert.throws(() => model.predict(3), TypeError);

// Errors have the engine's words, and hurt nothing.
await assert.rejects(train(text, { lable: 'species' }), /there is no setting `lable` here; did you mean `label`\?/);
await assert.rejects(train(readFileSync(penguins), { label: 'species' }), /missing/);
await assert.rejects(train(text, { label: 'kind' }), /kind/);
await assert.rejects(load(new Uint8Array(100)), /model/);
assert.throws(() => model.predict('a,b\n1,2\n'), Error);
assert.equal(model.predict(rows)[0], 'no');

// Certificates are the program's, and are checked.
execFileSync(program, ['certify', iris, '--positive', 'setosa', '--certificate', 'a.json'], { encoding: 'utf8' });
const [study] = await certify(text, { positive: 'setosa' });
assert.equal(study.findings.verdict, 'separable');
assert.deepEqual(study.certificate, JSON.parse(readFileSync('a.json', 'utf8')));
assert.equal((await check(study.certificate, text)).positive, 'setosa');
await assert.rejects(check(study.certificate, text.replace('5.1', '9.1')), /refused/);
assert.deepEqual((await certify(text)).map(({ findings }) => findings.verdict), ['separable', 'inseparable', 'inseparable']);
const xor = 'x,y,label\n0,0,same\n0,1,other\n1,0,other\n1,1,same\n';
assert.equal((await certify(xor))[0].findings.verdict, 'inseparable');
assert.equal((await certify(xor, { degree: 2 }))[0].findings.verdict, 'separable');

// Many models at once, and many after each other, in the memory of a few.
const file = (await train(text, { algorithm: 'perceptron' })).bytes;
const kept = await Promise.all(Array.from({ length: 50 }, () => load(file)));
assert.equal(new Set(kept.map((one) => one.predict(text).join())).size, 1);
kept.forEach((one) => one.free());
assert.throws(() => kept[0].predict(text), /the model was freed/);
kept[0].free();
const before = process.memoryUsage().rss;
for (let turn = 0; turn < 200; turn++) {
  await train(text, { algorithm: 'perceptron', holdout: 0 });
  if (turn % 20 === 0) globalThis.gc?.();
}
const grown = (process.memoryUsage().rss - before) / 2 ** 20;
console.log(`200 trainings more: ${grown.toFixed(0)} MiB more`);
assert.ok(grown < 300, `${grown} MiB`);
