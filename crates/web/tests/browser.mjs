// The playground in a real browser, as a teacher, a pupil and an attacker use it.
// Run by `cargo xtask test site`: node browser.mjs ROOT [PART OF A TEST'S NAME]

import { chromium } from 'playwright-core';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const root = process.argv[2];
const program = path.join(root, 'target/debug/rosenblatt');
const folder = mkdtempSync(path.join(tmpdir(), 'playground-'));
const figures = {};

const server = spawn(program, ['playground', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
const address = await new Promise((found) => server.stdout.once('data', (text) => found(String(text).match(/http:\S+/)[0])));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

const noises = [];
/** A page at a place of the playground; whatever its console says is held against it. */
async function open(hash = '', options = {}, before = async () => {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.on('console', (message) => noises.push(`${hash}: ${message.text()}`));
  page.on('pageerror', (error) => noises.push(`${hash}: ${error.message}`));
  page.on('request', (request) => { if (!request.url().startsWith(address) && !/^(blob|data):/.test(request.url())) noises.push(`${hash}: a request to ${request.url()}`); });
  await before(page);
  await page.goto(address + hash);
  await page.waitForSelector('html[data-ready]');
  return page;
}
const trouble = (page) => page.textContent('#trouble');
const learners = (page) => page.evaluate(() => window.playground.learners());
const state = (page) => page.evaluate(() => window.playground.state());
const at = async (page, x, y) => {
  const box = await page.locator('.panel canvas').first().boundingBox();
  return [box.x + x * box.width, box.y + y * box.height];
};

/** What the page's thread has taken of a core so far, in ms: however busy the machine is, that is the page's own work. */
async function clockOf(page) {
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => 1000 * (await client.send('Performance.getMetrics')).metrics.find((one) => one.name === 'TaskDuration').value;
}
/** Gives the page a table, and waits until it was read or refused. */
async function give(page, text, name) {
  await page.setInputFiles('#file', { name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  await page.waitForFunction((given) => window.playground.state().table === given, name, { timeout: 20000 });
  return trouble(page);
}

let passed = 0;
const failures = [];
async function test(name, work) {
  if (!name.includes(process.argv[3] ?? '')) return;
  const start = Date.now();
  try { await work(); passed += 1; console.log(`ok      ${name} (${Date.now() - start} ms)`); } catch (error) { failures.push(name); console.log(`FAILED  ${name}\n${error.stack}`); }
}

await test('the page is ready after less than a second of work', async () => {
  const times = [], works = [], middle = (list) => Math.round(list.sort((a, b) => a - b)[2]);
  for (let i = 0; i < 5; i += 1) {
    const page = await open('', {}, async (empty) => { works.push(await clockOf(empty)); });
    times.push(+(await page.getAttribute('html', 'data-ready')));
    works[i] = await works[i]();
    await page.context().close();
  }
  Object.assign(figures, { readyMs: middle(times), readyCpuMs: middle(works) });
  assert.ok(figures.readyCpuMs > 5 && figures.readyCpuMs < 1000, `${works}`);
  assert.ok(figures.readyMs < 10000, `${times}`);
});

await test('points are added, changed, dragged and erased; a run steps, goes back and plays', async () => {
  const page = await open();
  await page.click('#clear');
  await page.mouse.click(...await at(page, 0.3, 0.3));
  await page.mouse.click(...await at(page, 0.7, 0.7));
  assert.equal((await state(page)).points.split(';').length, 2);
  await page.mouse.click(...await at(page, 0.7, 0.7));
  assert.deepEqual((await state(page)).points.split(';').map((point) => point.split(',')[2]), ['0', '1']);
  await page.click('#step');
  const [first] = await learners(page);
  assert.equal(first.round, 1);
  assert.match(await page.textContent('#update'), /a mistake/);
  assert.match(await page.textContent('#update'), /before.*after/s);
  await page.click('#step');
  await page.click('#back');
  assert.deepEqual((await learners(page))[0].rounds, first.rounds);
  const [x, y] = await at(page, 0.7, 0.7);
  await page.mouse.move(x, y); await page.mouse.down(); await page.mouse.move(x - 120, y - 40, { steps: 5 }); await page.mouse.up();
  const moved = (await state(page)).points.split(';')[1];
  assert.equal((await learners(page))[0].round, 0);
  await page.click('#play');
  await page.waitForFunction(() => window.playground.learners()[0]?.ending, null, { timeout: 20000 });
  assert.match(await page.textContent('.ending'), /converged/);
  await page.click('#reset');
  assert.equal((await learners(page))[0].round, 0);
  await page.click('#epoch');
  assert.equal((await learners(page))[0].round, 2);
  await page.check('[name=tool][value=erase]');
  await page.mouse.click(x - 120, y - 40);
  assert.equal((await state(page)).points.includes(moved), false);
  assert.equal(await trouble(page), '');
  await page.context().close();
});

await test('a dropped table, with columns to choose from and more than two classes', async () => {
  const page = await open();
  const text = readFileSync(path.join(root, 'crates/data/bundled/iris.csv'), 'utf8');
  await page.evaluate((rows) => {
    const carried = new DataTransfer();
    carried.items.add(new File([rows], 'flowers.csv', { type: 'text/csv' }));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true, cancelable: true }));
  }, text);
  await page.waitForFunction(() => window.playground.state().data === 'file');
  assert.equal(await page.locator('#across option').count(), 5);
  await page.selectOption('#across', 'petal_length');
  await page.selectOption('#up', 'petal_width');
  await page.click('#epoch');
  assert.equal((await learners(page))[0].round, 150);
  assert.match(await page.inputValue('#command'), /rosenblatt trace flowers\.csv .*--ignore sepal_length --ignore sepal_width --scale standard .*--order shuffle-epoch/);
  assert.match(await page.textContent('#notes'), /columns are standardized.*rows are shuffled before every epoch/s);
  assert.match(await page.textContent('#proof'), /setosa against the rest: a line separates/);
  assert.equal(await trouble(page), '');
  await page.context().close();
});

await test('XOR has its certificate, and weights that come back end the run', async () => {
  const page = await open('#data=xor');
  assert.match(await page.textContent('#proof'), /no line separates the classes; proved without rounding/);
  assert.match(await page.textContent('#proof'), /row 1.*row 2.*row 3.*row 4/s);
  for (let i = 0; i < 5; i += 1) await page.click('#step');
  assert.match(await page.textContent('.ending'), /after round 4 the weights are what they were at the start/);
  await page.context().close();
});

await test('four learners side by side, and a link that brings all of it back', async () => {
  const page = await open('#data=drawn-noisy&n=120&order=shuffle-epoch&seed=5&test=0.2&learner=perceptron/last&learner=perceptron/averaged&learner=perceptron/voted&learner=pa1/last/kernel:rbf,gamma=1/C=0.5');
  assert.equal(await page.locator('.panel').count(), 4);
  for (let i = 0; i < 3; i += 1) await page.click('#epoch');
  await page.click('#step');
  await page.waitForTimeout(300);
  const link = await page.evaluate(() => location.hash);
  const again = await open(link);
  assert.deepEqual(await learners(again), await learners(page));
  assert.deepEqual(await again.locator('.stats').allTextContents(), await page.locator('.stats').allTextContents());
  await page.context().close(); await again.context().close();
});

await test('measured tables are learned with the settings that they start with', async () => {
  for (const [data, rows, most] of [['iris', 150, 10], ['penguins', 342, 8]]) {
    const page = await open();
    await page.selectOption('#preset', data);
    assert.match(await page.textContent('#notes'), /columns are standardized.*rows are shuffled before every epoch/s);
    await page.evaluate(({ hash }) => { location.hash = hash; }, { hash: `#data=${data}&round=${30 * rows}` });
    await page.waitForFunction((round) => window.playground.learners()[0]?.round === round, 30 * rows);
    const error = parseFloat((await page.textContent('.stats')).match(/error ([\d.]+)/)[1]);
    assert.ok(error < most, `${data}: ${error} %`);
    await page.context().close();
  }
});

await test('an empty board starts from the plain defaults', async () => {
  for (const start of ['#clear', 'points']) {
    const page = await open();
    assert.equal((await state(page)).bias, 'none');
    if (start === '#clear') await page.click(start); else await page.selectOption('#preset', start);
    assert.equal((await state(page)).bias, 'learned');
    for (const [klass, places] of [['minus', [[0.6, 0.4], [0.65, 0.45], [0.6, 0.35]]], ['plus', [[0.85, 0.2], [0.9, 0.15], [0.8, 0.1]]]]) {
      await page.selectOption('#newclass', { label: klass });
      for (const [x, y] of places) await page.mouse.click(...await at(page, x, y));
    }
    assert.equal((await state(page)).points.split(';').length, 6);
    await page.fill('#speed', '12');
    await page.click('#play');
    await page.waitForFunction(() => window.playground.learners()[0]?.ending, null, { timeout: 20000 });
    assert.match(await page.textContent('.ending'), /^converged/);
    await page.context().close();
  }
});

await test('undo, redo, and the way back of the browser', async () => {
  const page = await open();
  const settled = () => page.waitForTimeout(300);
  await settled();
  await page.click('#clear'); await settled();
  await page.mouse.click(...await at(page, 0.3, 0.3)); await settled();
  await page.mouse.click(...await at(page, 0.7, 0.7)); await settled();
  const points = async () => (await state(page)).points.split(';').filter(Boolean).length;
  assert.equal(await points(), 2);
  await page.keyboard.press('Control+z'); await settled();
  assert.equal(await points(), 1);
  await page.keyboard.press('Control+z'); await page.keyboard.press('Control+z'); await settled();
  assert.deepEqual([(await state(page)).data, (await state(page)).bias], ['lecture', 'none']);
  await page.keyboard.press('Control+y'); await settled(); await page.keyboard.press('Control+y'); await settled();
  assert.equal(await points(), 1);
  await page.goBack(); await settled();
  assert.equal(await points(), 0);
  assert.match(page.url(), /data=points/);
  assert.equal(await trouble(page), '');
  await page.context().close();
});

await test('the command on the page does what the page does, whatever was chosen', async () => {
  let seed = 11;
  const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
  const one = (list) => list[Math.floor(random() * list.length)];
  const page = await open();
  for (let i = 0; i < 30; i += 1) {
    const hash = `#data=${one(['lecture', 'voted', 'iris', 'penguins', 'drawn-three'])}&order=${one(['given', 'shuffle-once', 'shuffle-epoch'])}&seed=${Math.floor(random() * 99)}&epochs=2&bias=${one(['none', 'learned'])}&scaled=${one(['', '1'])}&test=${one(['0', '0.2'])}&cols=${one(['', 'all'])}&zero=${one(['wrong', 'plus'])}&learner=perceptron/${one(['last', 'averaged'])}${one(['', '/rate:0.5'])}`;
    await page.evaluate((next) => { location.hash = next; }, hash);
    await page.waitForFunction((next) => location.hash.includes(next), hash.match(/seed=\d+/)[0]);
    await page.waitForTimeout(200);
    assert.equal(await trouble(page), '', hash);
    await page.evaluate(() => { document.getElementById('part-export').open = true; });
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#rows')]);
    writeFileSync(path.join(folder, download.suggestedFilename()), readFileSync(await download.path()));
    const line = await page.inputValue('#command');
    const there = execFileSync('sh', ['-c', `${line.replace(/^rosenblatt/, '"$0"')} --rounds 100000 --json`, program], { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 }).trim().split('\n').map((text) => JSON.parse(text));
    there.pop();
    const here = await page.evaluate((last) => window.playground.ask({ do: 'go', round: last }).learners[0].rounds, there.at(-1).round);
    const bits = (rounds) => JSON.stringify(rounds.map((round) => [round.round, round.w, round.b]));
    assert.equal(bits(here), bits(there.filter((round) => round.round === there.at(-1).round)), `${hash}\n${line}`);
  }
  await page.context().close();
});

await test('start weights: the field, the address, undo, and the same bits on the command line', async () => {
  const page = await open('#data=lecture&bias=none');
  const settled = () => page.waitForTimeout(300);
  await settled();
  await page.evaluate(() => { document.getElementById('part-conventions').open = true; });
  assert.ok(await page.isDisabled('#start-b'));
  await page.fill('#start-1', '1'); await page.keyboard.press('Tab'); await settled();
  assert.equal((await state(page)).start, '1,0');
  assert.match(page.url(), /start=1,0(&|$)/);
  assert.match(await page.textContent('#update'), /Before the first round w = \(1,\s0\)\./);
  assert.match(await page.textContent('#proof'), /bounds the mistakes of a run that starts from zero/);
  assert.match(await page.inputValue('#command'), / --start 1,0$/);
  for (let i = 0; i < 2; i += 1) await page.click('#step');
  assert.deepEqual((await learners(page))[0].rounds[0].w, [0, -1]);
  await page.keyboard.press('Control+z'); await settled();
  assert.equal((await state(page)).start, '');
  assert.equal(await page.inputValue('#start-1'), '');
  await page.keyboard.press('Control+y'); await settled();
  assert.equal(await page.inputValue('#start-1'), '1');
  // What learns in another space starts as ever; three classes are refused, and the field stays to be emptied.
  await page.evaluate(() => { location.hash = '#data=xor&start=1,2,-0.5&learner=perceptron/last&learner=perceptron/last/kernel:rbf'; });
  await page.waitForFunction(() => window.playground.learners().length === 2);
  assert.equal(await trouble(page), '');
  assert.deepEqual((await page.inputValue('#command')).split('\n').map((line) => / --start 1,2,-0\.5/.test(line)), [true, false]);
  await page.evaluate(() => { location.hash = '#data=drawn-three&start=1,2'; });
  await page.waitForFunction(() => /left out for more than two classes/.test(document.getElementById('trouble').textContent));
  assert.ok(await page.isVisible('#start'));
  await page.fill('#start-1', ''); await page.fill('#start-2', ''); await page.keyboard.press('Tab');
  await page.waitForFunction(() => window.playground.learners().length === 1);
  assert.equal(await trouble(page), '');
  for (const hash of ['data=lecture&bias=none&start=-1,0.1', 'data=xor&start=0.3,-2.5,1e-3', 'data=voted&order=shuffle-epoch&seed=3&epochs=4&start=-2,3,-0.7', 'data=margin&start=1,1&mistake=lt0&learner=perceptron/averaged/rate:0.3']) {
    await page.evaluate((next) => { location.hash = `#${next}`; }, hash);
    await page.waitForFunction((start) => window.playground.state().start === start, hash.match(/start=([^&]*)/)[1]);
    await page.waitForTimeout(200);
    assert.equal(await trouble(page), '', hash);
    await page.evaluate(() => { document.getElementById('part-export').open = true; });
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#rows')]);
    writeFileSync(path.join(folder, download.suggestedFilename()), readFileSync(await download.path()));
    const line = await page.inputValue('#command');
    assert.match(line, / --start -?\d/);
    const there = execFileSync('sh', ['-c', `${line.replace(/^rosenblatt/, '"$0"')} --rounds 100000 --json`, program], { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 }).trim().split('\n').map((text) => JSON.parse(text));
    there.pop();
    const here = await page.evaluate((last) => {
      const all = [];
      for (let round = 1; round <= last; round += 1) all.push(...window.playground.ask({ do: 'go', round }).learners[0].rounds);
      return all;
    }, there.at(-1).round);
    const bits = (rounds) => JSON.stringify(rounds.map((round) => [round.round, round.w, round.b]));
    assert.equal(bits(here), bits(there), `${hash}\n${line}`);
  }
  await page.context().close();
});

await test('the captions of a lesson go along with its steps', async () => {
  const page = await open('#data=lecture&bias=none&round=1&story=1');
  const first = await page.textContent('#story');
  assert.match(first, /^1\. The first mistake\. Four points/);
  await page.click('#step');
  assert.match(await page.textContent('#story'), /^1\. The first mistake\. Row 2 is negative/);
  await page.click('#step');
  assert.match(await page.textContent('#story'), /Row 3 .* nothing moves/);
  await page.click('#back'); await page.click('#back');
  assert.equal(await page.textContent('#story'), first);
  // Of other rows or conventions they would be wrong.
  await page.evaluate(() => { const zero = document.getElementById('mistake'); zero.value = 'pred'; zero.dispatchEvent(new Event('change')); });
  await page.click('#step'); await page.click('#step');
  assert.equal(await page.textContent('#story'), first);
  await page.context().close();
});

/** Texts in these elements that match a pattern and stand on more than one line. */
const brokenTexts = (page, where, pattern) => page.evaluate(([selector, source]) => {
  const found = [];
  for (const one of document.querySelectorAll(selector)) {
    const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const match of node.data.matchAll(new RegExp(source, 'g'))) {
        const range = document.createRange();
        range.setStart(node, match.index); range.setEnd(node, match.index + match[0].length);
        if (new Set([...range.getClientRects()].filter((rect) => rect.width > 0).map((rect) => Math.round(rect.top))).size > 1) found.push(match[0]);
      }
    }
  }
  return found;
}, [where, pattern]);

await test('vectors and labels stand on one line', async () => {
  for (const [width, height] of [[1280, 800], [1920, 1080]]) {
    for (const hash of ['data=xor&round=4', 'data=drawn-noisy&round=399', 'data=voted&round=77&test=0.2&start=0.25,-1.125']) {
      const page = await open(`#${hash}`, { viewport: { width, height } });
      await page.evaluate(() => { for (const part of document.querySelectorAll('details')) part.open = true; });
      assert.match(await page.textContent('#update'), /x = \(/);
      assert.deepEqual(await brokenTexts(page, '#update', '\\([^()·]*,[^()]*\\)'), [], `${width} ${hash}`);
      assert.deepEqual(await brokenTexts(page, '#settings label, #settings legend, #transport label, button', '\\S[^]*\\S'), [], `${width} ${hash}`);
      const narrow = await page.evaluate(() => [...document.querySelectorAll('#settings select, #settings input:not([type=checkbox]):not([type=radio]):not([type=file])')].filter((one) => one.offsetParent && (one.offsetWidth < (one.matches('select') ? 90 : 40) || one.getBoundingClientRect().right > one.closest('details').getBoundingClientRect().right)).map((one) => one.id || one.outerHTML));
      assert.deepEqual(narrow, [], `${width} ${hash}`);
      await page.context().close();
    }
  }
});

await test('mistakes of several outputs are counted as such', async () => {
  const page = await open('#data=drawn-three&round=60');
  assert.match(await page.textContent('.panel h2'), /\d+ mistakes? of 3 outputs$/);
  await page.evaluate(() => { location.hash = '#data=drawn-three&round=60&multiclass=direct-max'; });
  await page.waitForFunction(() => window.playground.state().multiclass === 'direct-max');
  assert.match(await page.textContent('.panel h2'), /\d+ mistakes?$/);
  await page.context().close();
});

await test('two learners fill a large screen', async () => {
  const page = await open('#data=drawn-noisy&round=300&learner=perceptron/last&learner=perceptron/averaged', { viewport: { width: 1920, height: 1080 } });
  const [first, second] = await Promise.all((await page.locator('.panel canvas').all()).map((one) => one.boundingBox()));
  assert.ok(Math.abs(first.y - second.y) < 1 && Math.abs(first.height - second.height) < 1, JSON.stringify([first, second]));
  assert.ok(first.height > 600 && first.width > 450, JSON.stringify(first));
  const bar = await page.locator('#transport').boundingBox();
  assert.ok(bar.y + bar.height <= 1080 && bar.y + bar.height > 1040, JSON.stringify(bar));
  assert.ok(await page.evaluate(() => document.documentElement.scrollHeight <= 1080));
  await page.screenshot({ path: 'two.png' });
  await page.context().close();
});

await test('the learning rate has a control, in the address and on the command line', async () => {
  const page = await open('#data=margin');
  const rate = page.locator('.learner label', { hasText: 'Learning rate' });
  assert.equal(await rate.locator('output').textContent(), '1');
  await rate.locator('input').evaluate((one) => { one.value = '2'; one.dispatchEvent(new Event('input')); one.dispatchEvent(new Event('change')); });
  assert.deepEqual((await state(page)).learners, ['perceptron/last/rate:0.05']);
  assert.equal(await rate.locator('output').textContent(), '0.05');
  assert.equal(await page.textContent('.panel h2 .title'), 'perceptron, last, rate 0.05');
  assert.match(await page.inputValue('#command'), / --rate 0\.05/);
  await page.click('#step');
  assert.deepEqual((await learners(page))[0].rounds[0].w, [-0.1, -0.05]);
  await page.context().close();
});

await test('one colour has one meaning, and classes have those of the command line, in light and dark', async () => {
  const ink = readFileSync(path.join(root, 'crates/plot/src/ink.rs'), 'utf8');
  for (const theme of ['light', 'dark']) {
    const page = await open(`#data=lecture&bias=none&round=2&theme=${theme}`);
    const [, table] = ink.match(new RegExp(`const ${theme.toUpperCase()}_CLASSES[^=]*= \\[([^]*?)\\n\\];`));
    const expected = [...table.matchAll(/Rgb\((\w+), (\w+), (\w+)\)/g)].map(([, ...parts]) => `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`);
    const classes = await page.evaluate(async () => { const { MOST_COLOURS, colourOf } = await import('./draw.js'); return Array.from({ length: MOST_COLOURS }, (_, klass) => colourOf(klass)); });
    assert.deepEqual(classes, expected, theme);
    const hueOf = ([red, green, blue]) => {
      const most = Math.max(red, green, blue), span = most - Math.min(red, green, blue);
      if (span < 50) return null; // a grey
      const sixth = most === red ? (green - blue) / span : most === green ? 2 + (blue - red) / span : 4 + (red - green) / span;
      return (60 * sixth + 360) % 360;
    };
    const far = (one, other) => { const turn = Math.abs(one - other) % 360; return Math.min(turn, 360 - turn); };
    const ofClasses = classes.slice(0, 3).map((hex) => hueOf([1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16))));
    const rgb = (where, what) => page.evaluate(([selector, property]) => getComputedStyle(document.querySelector(selector))[property].match(/\d+/g).slice(0, 3).map(Number), [where, what]);
    const wrong = hueOf(await page.evaluate(() => { const hex = getComputedStyle(document.documentElement).getPropertyValue('--wrong').trim(); return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)); }));
    assert.match(await page.textContent('#update .mistake'), /a mistake/);
    assert.equal(hueOf(await rgb('#update .mistake', 'color')), wrong, 'the words are as the rings');
    for (const hue of ofClasses) assert.ok(far(hue, wrong) > 40, `${theme}: ${hue} and ${wrong}`);
    for (const [where, what] of [['#play', 'backgroundColor'], ['.panel h2', 'color'], ['.learner', 'borderLeftColor'], ['#legend', 'color'], ['#proof .yes', 'color']]) {
      assert.equal(hueOf(await rgb(where, what)), null, `${theme}: ${where}`);
    }
    await page.click('#epoch'); await page.click('#epoch');
    assert.equal(hueOf(await rgb('.ending', 'color')), null, `${theme}: the ending`);
    const lines = await page.evaluate(async () => { const { lineOf } = await import('./desk.js'); return [0, 1, 2, 3].flatMap((place) => [false, true].map((isHeldOut) => lineOf(place, isHeldOut))); });
    assert.equal(new Set(lines.map((line) => JSON.stringify(line))).size, 8);
    for (const { stroke } of lines) assert.equal(hueOf([1, 3, 5].map((at) => parseInt(stroke.slice(at, at + 2), 16))), null, stroke);
    await page.screenshot({ path: `colours-${theme}.png` });
    await page.context().close();
  }
});

await test('rows of many columns stand on their true side', async () => {
  const page = await open('#data=penguins&cols=all&round=999&learner=perceptron/last&learner=perceptron/averaged');
  const seen = await page.evaluate(() => { const [look] = window.playground.looks(); return { view: look.view, spots: [...look.spots], classes: [...look.classes] }; });
  assert.equal(seen.view, 'rival');
  const error = await page.evaluate(() => window.playground.looks()[0].errors[0]);
  const wrong = seen.classes.filter((_, row) => !(seen.spots[2 * row] > seen.spots[2 * row + 1])).length;
  assert.equal(wrong, Math.round(error * seen.classes.length));
  await page.context().close();
});

await test('a legend, shares, plural forms and the words of the field', async () => {
  const page = await open('#data=drawn-noisy&round=400');
  const key = await page.textContent('#key');
  for (const words of ['minus', 'plus', 'misclassified', 'current example', 'decision boundary', 'contradicts the others']) assert.ok(key.includes(words), `${words}: ${key}`);
  const proof = await page.textContent('#proof');
  assert.ok(/share/.test(proof) && /\d %/.test(proof) && !/e\+\d/.test(proof), proof);
  const all = await page.textContent('body');
  assert.equal(/Read-out|found out|Draw number|kept for the test|the rows as they are|not decided\.|\b1 mistakes/.exec(all), null);
  await page.evaluate(() => { location.hash = '#data=lecture&round=1'; });
  await page.waitForTimeout(300);
  assert.match(await page.textContent('.panel h2'), /1 mistake$/);
  assert.equal(/\+ 0 =|w·x \+ b/.test(await page.textContent('#update')), false);
  assert.match(await page.textContent('#key'), /w before.*y·x added.*w after/s);
  await page.evaluate(() => { location.hash = '#data=margin&round=100'; });
  await page.waitForTimeout(300);
  assert.match(await page.textContent('#key'), /margin/);
  const box = await page.locator('.panel canvas').first().boundingBox();
  let tip = '';
  for (let x = 0.02; x < 1 && !tip; x += 0.02) for (let y = 0.05; y < 1 && !tip; y += 0.05) {
    await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
    if (await page.isVisible('.tip')) tip = await page.textContent('.tip');
  }
  assert.match(tip, /row \d: (minus|plus)classified correctlyx1 .*x2 /);
  await page.context().close();
});

await test('a legend of all classes, each with a mark of its own', async () => {
  const page = await open();
  const table = (classes) => ['x1,x2,class', ...Array.from({ length: 4 * classes }, (_, row) => `${Math.cos(row)},${Math.sin(row * 1.7)},k${row % classes}`), ''].join('\n');
  const marks = () => page.evaluate(() => [...document.querySelectorAll('#key .name')].map((one) => [one.textContent, one.querySelector('svg > *').getAttribute('fill'), one.querySelector('svg').innerHTML.replace(/fill="[^"]*"/, '')]));
  await give(page, table(10), 'ten.csv');
  const ten = await marks();
  assert.equal(ten.length, 10);
  assert.equal(new Set(ten.map(([, fill]) => fill)).size, 10);
  await give(page, table(30), 'thirty.csv');
  const most = await marks();
  assert.deepEqual([most.length, new Set(most.map(([, fill]) => fill)).size], [24, 24]);
  assert.match(await page.textContent('#key'), /and 6 more classes/);
  // Beyond the colours there are, a colour comes again with another shape.
  const [first, again] = await page.evaluate(async () => { const { colourOf, shapeOf } = await import('./draw.js'); return [0, 24].map((klass) => [colourOf(klass), shapeOf(klass)]); });
  assert.ok(first[0] === again[0] && first[1] !== again[1], JSON.stringify([first, again]));
  // The colours of the command line's pictures.
  await page.selectOption('#preset', 'margin');
  assert.deepEqual((await marks()).slice(0, 2).map(([, fill]) => fill), ['#0072b2', '#d55e00']);
  await page.context().close();
});

await test('a table whose last column is a number asks for a column of classes', async () => {
  const page = await open();
  const rows = ['a,b,price', ...Array.from({ length: 200 }, (_, row) => `${Math.sin(row).toFixed(3)},${1 + row % 7},${(1000 + 37.31 * row).toFixed(2)}`), ''].join('\n');
  const words = await give(page, rows, 'prices.csv');
  assert.match(words, /column `price`.*\n.*choose the column that holds them in the menu “Label”/);
  assert.match(words, /rosenblatt train prices\.csv --label price/);
  assert.deepEqual(await page.locator('#label option').allTextContents(), ['choose …', 'a', 'b', 'price']);
  assert.ok(await page.isVisible('#label'));
  assert.deepEqual(await learners(page), []);
  await page.selectOption('#label', 'b');
  assert.equal(await trouble(page), '');
  assert.deepEqual(await page.evaluate(() => [window.playground.table().classes.length, window.playground.learners().length]), [7, 1]);
  await page.context().close();
});

await test('numbers as they are read, small shares, and the noise there is', async () => {
  const page = await open('#data=drawn-noisy');
  assert.deepEqual([await page.textContent('output[for=noise]'), await page.inputValue('#noise')], ['0.45', '0.45']);
  await page.selectOption('#preset', 'drawn-separable');
  assert.deepEqual([await page.textContent('output[for=noise]'), await page.inputValue('#noise')], ['0', '0']);
  await page.selectOption('#preset', 'drawn-noisy');
  await page.evaluate(() => { const noise = document.getElementById('noise'); noise.value = '0.65'; noise.dispatchEvent(new Event('input')); });
  assert.deepEqual([(await state(page)).noise, await page.textContent('output[for=noise]')], [0.2, '0.65']);
  assert.equal(await page.textContent('#about'), 'Watch perceptrons learn, one example at a time, on your own data.');
  const words = await page.evaluate(async () => {
    const { percent } = await import('./words.js'), { readable } = await import('./desk.js'), { figure } = await import('./draw.js');
    return [...[0, 0.0004, 0.0006, 1].map(percent), readable('2399 row(s) lack a value, in `year 2024`'), readable('rows.csv:1234: round 5771.'), figure(-12345.678), figure(0.1234)];
  });
  assert.deepEqual(words, ['0 %', '< 0.1 %', '0.1 %', '100 %', '2,399 rows lack a value, in `year 2024`', 'rows.csv:1234: round 5,771.', '−12,345.68', '0.123']);
  await page.context().close();
});

await test('weights that come back are explained', async () => {
  const page = await open('#data=iris&round=6000');
  assert.match(await page.textContent('.ending'), /after round 5,771 the weights are what they were after round 5,762.*The updates in between cancel out.*Rows 71 and 127 have equal features but different classes, so no line separates them/);
  await page.context().close();
});

await test('a boundary for every learner, and no more rings than can be seen', async () => {
  const page = await open('#data=drawn-noisy&round=400&learner=perceptron/voted&learner=perceptron/last/kernel:rbf');
  assert.match(await page.textContent('#key'), /decision boundary/);
  const [download] = await Promise.all([page.waitForEvent('download'), page.evaluate(() => document.getElementById('svg').click())]);
  const pieces = readFileSync(await download.path(), 'utf8').match(/<path d="[^"]*"[^>]*stroke-linecap="round"\/>/g);
  assert.equal(pieces?.length, 2);
  for (const piece of pieces) assert.ok(piece.match(/M/g).length > 30, piece.slice(0, 200));
  const rows = ['x1,x2,class', ...Array.from({ length: 5000 }, (_, row) => `${Math.sin(row * 12.9898) * 3},${Math.cos(row * 78.233) * 3},${row * 7919 % 13 < 6 ? 'a' : 'b'}`), ''].join('\n');
  await page.evaluate(() => { location.hash = '#data=lecture'; });
  await page.waitForFunction(() => window.playground.learners().length === 1);
  await give(page, rows, 'many.csv');
  await page.click('#epoch');
  const [, drawn, wrong] = (await page.textContent('#key')).match(/rings on (\d+) of ([\d,]+)/) ?? [];
  assert.ok(+drawn > 100 && +drawn < 400 && +wrong.replace(',', '') > 1000, `${drawn} of ${wrong}`);
  await page.context().close();
});

await test('nothing is covered with four learners, and text can be read from afar', async () => {
  const four = 'data=drawn-noisy&round=4500&speed=12&learner=perceptron/last&learner=perceptron/averaged&learner=perceptron/voted&learner=perceptron/last/kernel:rbf';
  for (const [width, height, more] of [[1280, 800, ''], [1280, 800, '&lesson=1'], [1920, 1080, ''], [1920, 1080, '&lesson=1']]) {
    const page = await open(`#${four}${more}`, { viewport: { width, height } });
    await page.waitForTimeout(200);
    const bar = await page.locator('#transport').boundingBox();
    assert.ok(bar.y + bar.height <= height, JSON.stringify(bar));
    for (const box of await Promise.all((await page.locator('.panel, #key').all()).map((one) => one.boundingBox()))) {
      assert.ok(box.y + box.height <= bar.y + 1 && box.height > 15, `${width}${more}: ${JSON.stringify([box, bar])}`);
    }
    const [speed, clock] = [await page.locator('output[for=speed]').boundingBox(), await page.locator('#clock').boundingBox()];
    assert.ok(speed.x + speed.width <= clock.x || speed.y + speed.height <= clock.y, JSON.stringify([speed, clock]));
    assert.ok(await page.evaluate(() => { const shown = document.querySelector('output[for=speed]'); return shown.scrollWidth <= shown.clientWidth + 1; }), 'the speed is whole');
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('.panel h2 span')].filter((title) => title.scrollWidth > title.clientWidth + 1 || title.getBoundingClientRect().right > title.closest('.panel').getBoundingClientRect().right).map((title) => title.textContent)), []);
    const shapes = await page.evaluate(() => [...document.querySelectorAll('.panel canvas')].map((canvas) => canvas.clientHeight));
    assert.ok(Math.max(...shapes) - Math.min(...shapes) <= 1, `${shapes}`);
    for (const box of await Promise.all((await page.locator('.panel canvas').all()).map((one) => one.boundingBox()))) assert.ok(box.height > 140, JSON.stringify(box));
    if (width === 1920) {
      const size = await page.evaluate(() => parseFloat(getComputedStyle(document.documentElement).fontSize));
      assert.ok(size >= (more ? 24 : 20), `${size}`);
      if (more) { const curve = await page.locator('#curves').boundingBox(); assert.ok(curve.y + curve.height < height, JSON.stringify(curve)); }
    }
    await page.context().close();
  }
});

await test('no violation of WCAG AA, in light and dark', async () => {
  const axe = readFileSync(createRequire(path.join(process.cwd(), 'x.js')).resolve('axe-core/axe.min.js'), 'utf8');
  for (const theme of ['light', 'dark']) {
    for (const hash of ['data=xor&round=4', 'data=iris&cols=all&round=300&learner=perceptron/last&learner=perceptron/averaged&learner=mlp/hidden=2/rate:0.1&learner=pa1/last', 'data=lecture&round=2&lesson=1&story=2']) {
      const page = await open(`#${hash}&theme=${theme}`);
      await page.evaluate(() => { for (const part of document.querySelectorAll('details')) part.open = true; });
      await page.evaluate(axe);
      const found = await page.evaluate(async () => { const { violations } = await window.axe.run(); return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ').slice(0, 300)}`); });
      assert.deepEqual(found, [], `${theme} ${hash}`);
      await page.context().close();
    }
  }
});

await test('a table that the program is started with', async () => {
  writeFileSync(path.join(folder, 'my rows.csv'), 'a,b,label\n1,2,x\n3,5,y\n2,1,x\n4,4,y\n');
  const other = spawn(program, ['playground', 'my rows.csv', '--port', '0'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const where = await new Promise((found) => other.stdout.once('data', (text) => found(String(text).match(/http:\S+/)[0])));
  const page = await browser.newPage();
  await page.goto(where);
  await page.waitForSelector('html[data-ready]');
  assert.deepEqual(await page.evaluate(() => [window.playground.table().rows, window.playground.state().table]), [4, 'my rows.csv']);
  assert.match(await page.inputValue('#command'), /trace 'my rows\.csv'/);
  assert.equal(await trouble(page), '');
  await page.close();
  other.kill();
});

await test('keyboard alone', async () => {
  const page = await open();
  await page.focus('#clear'); await page.keyboard.press('Enter');
  await page.focus('.panel canvas');
  for (let i = 0; i < 5; i += 1) await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  for (let i = 0; i < 12; i += 1) await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter'); await page.keyboard.press('Enter');
  assert.deepEqual((await state(page)).points.split(';').map((point) => point.split(',')[2]), ['0', '1']);
  const before = (await state(page)).points;
  await page.keyboard.press('Shift+ArrowUp');
  assert.notEqual((await state(page)).points, before);
  await page.focus('#lesson');
  await page.keyboard.press('.'); await page.keyboard.press('.'); await page.keyboard.press(',');
  assert.equal((await learners(page))[0].round, 1);
  await page.keyboard.press('r');
  assert.equal((await learners(page))[0].round, 0);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('+'); await page.keyboard.press(' ');
  await page.waitForFunction(() => window.playground.learners()[0]?.ending, null, { timeout: 20000 });
  await page.keyboard.press('h');
  assert.equal(await page.isVisible('#settings'), false);
  await page.keyboard.press('?');
  assert.equal(await page.isVisible('#keys-dialog'), true);
  await page.keyboard.press('Escape');
  // Whatever can be reached has a name.
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, select, input, textarea, canvas')].filter((one) => !(one.ariaLabel || one.getAttribute('aria-label') || one.labels?.length || one.textContent.trim())).map((one) => one.outerHTML));
  assert.deepEqual(nameless, []);
  await page.context().close();
});

await test('a phone', async () => {
  const page = await open('#data=margin', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide}`);
  for (const one of await page.locator('header select, header button, #transport button').all()) {
    const box = await one.boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  }
  assert.ok(await page.isVisible('#about'));
  await page.tap('#play');
  await page.waitForFunction(() => window.playground.learners()[0]?.round > 2);
  assert.ok(await page.isVisible('.panel canvas'));
  await page.screenshot({ path: 'phone.png' });
  await page.context().close();
});

await test('what is taken away: picture, film, trace, rows, link', async () => {
  const page = await open('#data=margin&round=5&speed=6');
  await page.evaluate(() => { document.getElementById('part-export').open = true; });
  const taken = async (button, check) => {
    const [download] = await Promise.all([page.waitForEvent('download', { timeout: 30000 }), page.click(button)]);
    check(readFileSync(await download.path()));
  };
  await taken('#svg', (bytes) => assert.match(String(bytes), /^<svg[^]*<\/svg>\s*$/));
  await taken('#csv', (bytes) => assert.match(String(bytes), /^round,epoch,row,class/));
  await taken('#latex', (bytes) => assert.match(String(bytes), /\\begin\{tabular\}/));
  await taken('#rows', (bytes) => assert.match(String(bytes), /^x1,x2,class\n2,1,minus\n/));
  await taken('#film', (bytes) => assert.ok(bytes.length > 2000, `${bytes.length}`));
  await page.context().close();
});

await test('the weights in the browser are those of trace, bit by bit, on 100 problems and the worked examples', async () => {
  const page = await open();
  let seed = 42;
  const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
  const one = (list) => list[Math.floor(random() * list.length)];
  const problems = [];
  for (const name of ['lecture', 'and', 'xor', 'margin', 'voted']) {
    for (const bias of ['none', 'learned']) problems.push([await page.evaluate((preset) => window.playground.ask({ do: 'preset', name: preset }).text, name), { bias, order: 'given', readout: 'last', epochs: 20 }]);
  }
  for (let i = 0; i < 100; i += 1) {
    const classes = i % 4 === 3 ? 3 : 2, rows = 6 + Math.floor(random() * 12);
    const table = ['x1,x2,class', ...Array.from({ length: rows }, (_, row) => `${random() * 4 - 2},${random() * 4 - 2},${'abc'[row < classes ? row : Math.floor(random() * classes)]}`), ''].join('\n');
    problems.push([table, {
      algorithm: one(['perceptron', 'perceptron', 'pa1', 'alma', 'arow', 'batch', 'logistic']), order: one(['given', 'shuffle-once', 'shuffle-epoch', 'draws']),
      readout: one(['last', 'averaged', 'voted', 'pocket']), mistake: one(['le0', 'pred']), zero: one(['plus', 'minus', 'wrong', 'random']),
      multiclass: one(['one-vs-rest', 'direct-max']), seed: Math.floor(random() * 1000), epochs: 1 + Math.floor(random() * 5),
    }]);
  }
  let compared = 0;
  for (const [table, options] of problems) {
    const walked = await page.evaluate(([text, wish]) => {
      const { ask } = window.playground;
      ask({ do: 'read', name: 'rows.csv' }, new TextEncoder().encode(text));
      ask({ do: 'learn', learners: [wish] });
      const all = [];
      for (let round = 1; ; round += 1) {
        const [learner] = ask({ do: 'go', round }).learners;
        if (learner.round !== round) break;
        for (const round of learner.rounds) all.push([round.round, round.w, round.b]);
      }
      return { all, command: ask({ do: 'command', learner: 0 }).text };
    }, [table, options]);
    writeFileSync(path.join(folder, 'rows.csv'), table);
    const words = walked.command.replace(/^rosenblatt/, '"$0"');
    const lines = execFileSync('sh', ['-c', `${words} --rounds 100000 --json`, program], { cwd: folder, encoding: 'utf8' }).trim().split('\n').map((line) => JSON.parse(line));
    lines.pop();
    assert.equal(walked.all.length, lines.length, walked.command);
    walked.all.forEach(([round, w, b], i) => {
      assert.ok(round === lines[i].round && Object.is(b, lines[i].b) && w.length === lines[i].w.length && w.every((weight, k) => Object.is(weight, lines[i].w[k])), `${walked.command}: round ${round}`);
      compared += 1;
    });
  }
  figures.problems = problems.length; figures.roundsCompared = compared;
  await page.context().close();
});

await test('2,000 points and four learners, frame by frame', async () => {
  const page = await open('#data=drawn-noisy&n=2000&order=shuffle-epoch&speed=7&epochs=1000&learner=perceptron/last&learner=perceptron/averaged&learner=pa1/last&learner=arow/last');
  await page.evaluate(() => {
    window.count = async (ms) => {
      const began = performance.now(), gaps = [];
      let before = began;
      await new Promise((done) => {
        const tick = (now) => { gaps.push(now - before); before = now; if (now - began > ms) done(); else requestAnimationFrame(tick); };
        requestAnimationFrame(tick);
      });
      return { frames: gaps.length, perSecond: gaps.length / (performance.now() - began) * 1000, slow: gaps.sort((a, b) => a - b)[Math.floor(gaps.length * 0.95)] };
    };
  });
  const idle = await page.evaluate(() => window.count(1500));
  await page.evaluate(() => { document.getElementById('play').click(); return window.count(500); });
  const spent = await clockOf(page), began = Date.now();
  const from = [await spent(), (await learners(page))[0].round];
  const playing = await page.evaluate(() => window.count(4000));
  const measured = { rounds: (await learners(page))[0].round - from[1], cpuMs: (await spent() - from[0]) / playing.frames, share: (await spent() - from[0]) / (Date.now() - began) };
  Object.assign(figures, { framesIdle: +idle.perSecond.toFixed(1), framesPlaying: +playing.perSecond.toFixed(1), slowGapMs: +playing.slow.toFixed(1), cpuMsPerFrame: +measured.cpuMs.toFixed(1), cpuShare: +measured.share.toFixed(2), rounds: measured.rounds });
  // Sixty frames a second leave 16.7 ms each; on a busy machine fewer come, and each has more to do, but a page that is too
  // slow by itself takes all of a core that it can get.
  assert.ok(measured.cpuMs < 16.7 || measured.share < 0.8, JSON.stringify(figures));
  assert.ok(measured.rounds > 100);
  await page.context().close();
});

await test('100,000 dropped rows stay usable', async () => {
  const page = await open();
  const rows = ['a,b,label'];
  let seed = 7;
  const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648 - 0.5; };
  for (let i = 0; i < 100000; i += 1) { const [a, b] = [random(), random()]; rows.push(`${a},${b},${a + b + 0.3 * random() > 0 ? 'up' : 'down'}`); }
  await page.evaluate((text) => {
    window.drop = () => new Promise((done) => {
      const carried = new DataTransfer();
      carried.items.add(new File([text], 'large.csv'));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: carried, bubbles: true, cancelable: true }));
      const wait = () => (window.playground.state().data === 'file' && window.playground.learners().length ? done() : setTimeout(wait, 5));
      wait();
    });
    window.time = async (work) => { const began = performance.now(); await work(); await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); return Math.round(performance.now() - began); };
  }, rows.join('\n'));
  const spent = await clockOf(page), times = {}, works = {};
  for (const [name, work] of [['drop', 'drop'], ['step', "() => document.getElementById('step').click()"], ['epoch', "() => document.getElementById('epoch').click()"]]) {
    const from = await spent();
    times[name] = await page.evaluate(`time(${work})`);
    works[name] = Math.round(await spent() - from);
  }
  Object.assign(figures, { large: times, largeCpu: works });
  assert.equal((await learners(page))[0].rows, 100000);
  // Work of the page's own thread; by the wall, a busy machine takes longer.
  assert.ok(works.drop < 5000 && works.step < 1000 && works.epoch < 3000, JSON.stringify(figures));
  assert.ok(Math.max(...Object.values(times)) < 30000, JSON.stringify(times));
  await page.context().close();
});

await test('hostile tables are refused or shown as text', async () => {
  const page = await open();
  let given = 0;
  const bad = (text) => give(page, text, `bad-${given += 1}.csv`);
  await bad('x1,x2,class\n1,2,<img src=x onerror=alert(1)>\n3,4,"<script>alert(2)</script>"\n');
  assert.equal(await page.locator('main img, main script').count(), 0);
  assert.ok((await page.textContent('#newclass')).includes('<script>alert(2)</script>'));
  // Rows are shuffled: either comes first, and the other after it.
  const updates = [];
  for (let i = 0; i < 2; i += 1) { await page.click('#step'); updates.push(await page.textContent('#update')); }
  assert.match(updates.join('\n'), /class <img src=x onerror=alert\(1\)>/);
  assert.match(updates.join('\n'), /class <script>alert\(2\)<\/script>/);
  const [download] = await Promise.all([page.waitForEvent('download'), page.evaluate(() => document.getElementById('svg').click())]);
  assert.equal(/<script|<img/.test(readFileSync(await download.path(), 'utf8')), false);
  assert.match(await bad('x1,x2,class\n1,inf,a\n2,3,b\n'), /inf/);
  assert.equal(await bad('x1,x2,class\n1,NaN,a\n2,3,b\n3,1,a\n'), '');
  assert.match(await page.textContent('#notes'), /1 row lacks a value and was dropped/);
  assert.match(await bad(Buffer.from([0, 1, 255, 254, 0, 3])), /bad-\d\.csv/);
  // What cannot be read leaves no other rows.
  assert.equal(await page.evaluate(() => window.playground.learners().length), 0);
  assert.match(await page.textContent('#update'), /No rows were read/);
  assert.match(await bad(''), /no rows/);
  await bad(`x1,x2,class\n${'9'.repeat(5000)},1,a\n1,2,b\n`);
  const huge = path.join(folder, 'huge.csv');
  writeFileSync(huge, ''); truncateSync(huge, 1 << 30);
  await page.setInputFiles('#file', huge);
  await page.waitForFunction(() => /1,073,741,824 bytes/.test(document.getElementById('trouble').textContent), null, { timeout: 20000 });
  assert.equal(await give(page, 'x1,x2,class\n1,2,a\n3,4,b\n', 'fine.csv'), '');
  await page.context().close();
});

await test('the lecture in 60 seconds, link after link', async () => {
  const text = readFileSync(path.join(root, 'docs/guide/playground.md'), 'utf8');
  const links = [...text.matchAll(/^\d+\. .*?\(http:\/\/127\.0\.0\.1:8081\/(#[^)\s]+)\)[^\n]*\n((?: {3}.*\n)*)/gm)];
  assert.ok(links.length >= 5, `${links.length} links`);
  const page = await open();
  // The menu of the page has the same lessons.
  assert.deepEqual(links.map(([, hash]) => hash), await page.evaluate(() => window.playground.lessons.map(([, state]) => `#${state}`)));
  const began = Date.now();
  for (const [whole, hash, rest] of links) {
    await page.evaluate((next) => { location.hash = next; }, hash);
    await page.waitForTimeout(250);
    const seen = rest.match(/“([^”]+)”/)?.[1];
    assert.ok(seen, `what is to be seen at ${hash}`);
    if (/Press \*\*Play\*\*/.test(whole)) {
      await page.evaluate(() => { document.getElementById('play').click(); });
      await page.waitForFunction(() => window.playground.learners().every((one) => one.ending), null, { timeout: 20000 });
    }
    await page.waitForFunction((words) => document.querySelector('main').textContent.replace(/\s+/g, ' ').includes(words), seen, { timeout: 10000 });
    assert.equal(await trouble(page), '', hash);
  }
  figures.lectureSeconds = (Date.now() - began) / 1000;
  await page.context().close();
});

await test('pictures for the documentation', async () => {
  const shot = async (hash, name, options = {}) => { const page = await open(hash, options); await page.waitForTimeout(400); await page.screenshot({ path: name }); await page.context().close(); };
  await shot('#data=drawn-rings&n=160&order=shuffle-once&round=480&learner=perceptron/last&learner=perceptron/averaged&learner=perceptron/last/kernel:polynomial,degree=2&learner=mlp/hidden=8/rate:0.05', 'four.png', { viewport: { width: 1500, height: 1000 } });
  await shot('#data=lecture&bias=none&round=2', 'update.png', { viewport: { width: 1400, height: 820 } });
  await shot('#data=margin&start=-2,3&round=12&learner=perceptron/last&learner=perceptron/last/rate:0.1&story=9', 'start.png', { viewport: { width: 1280, height: 800 } });
  await shot('#data=xor&round=4&theme=dark&lesson=1', 'projector.png', { viewport: { width: 1920, height: 1080 } });
});

await browser.close();
server.kill();
if (noises.length) { failures.push('the console was silent'); console.log(noises.join('\n')); } else passed += 1;
console.log(JSON.stringify(figures));
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length ? 1 : 0);
