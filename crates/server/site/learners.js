// Learners by name: `perceptron/averaged/kernel:rbf,gamma=2/C=1`, as options of the engine, as a title, and as a form.

import { $, desk, el, state } from './desk.js';

const RATES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
const MLP = 'mlp/hidden=2/rate:0.1';

const settings = (pairs) => Object.fromEntries(pairs.map((pair) => {
  const [name, value] = pair.split('=');
  return [name, Number.isNaN(+value) ? value : +value];
}));
export const ruleOf = (words) => words.split('/')[0];
export const partOf = (words, start) => words.split('/').find((part, place) => place > 0 && part.startsWith(start));
export const readoutOf = (words) => words.split('/').slice(1).find((part) => part && !/[:=]/.test(part)) ?? '';
/** Whether what is learned are the weights of the features themselves. */
export const isPlain = (words) => ruleOf(words) !== 'mlp' && !partOf(words, 'kernel:') && !partOf(words, 'map:');
const about = (words) => desk.catalogue.algorithms.find((one) => one.name === ruleOf(words));

function withPart(words, matches, part) {
  const [algorithm, ...parts] = words.split('/');
  return [algorithm, ...parts.filter((one) => one && !matches(one)), ...(part ? [part] : [])].join('/');
}

export function optionsOf(words) {
  const [algorithm, ...parts] = words.split('/');
  const { order, bias, mistake, zero, multiclass } = state;
  const options = { algorithm, params: {}, order, seed: +state.seed, epochs: +state.epochs, bias, mistake, zero, multiclass };
  for (const part of parts) {
    if (part.startsWith('kernel:')) {
      const [name, ...rest] = part.slice(7).split(',');
      options.kernel = { name, params: settings(rest) };
      options.bias = 'none';
    } else if (part.startsWith('map:')) {
      const [name, ...rest] = part.slice(4).split(',');
      const { size, ...params } = settings(rest);
      options.map = { name, size: size ?? 64, params };
    } else if (part.startsWith('network:')) {
      const [activation, ...rest] = part.slice(8).split(',');
      options.network = { activation, ...Object.fromEntries(rest.map((pair) => pair.split('='))) };
    } else if (part.startsWith('rate:')) {
      options.rate = part.slice(5);
    } else if (part.includes('=')) {
      const [name, value] = part.split('=');
      options.params[name] = +value;
    } else if (part) options.readout = part;
  }
  if (algorithm === 'mlp') { delete options.bias; delete options.readout; options.network ??= { activation: 'tanh' }; }
  return options;
}

/** Where plain learners start, as the engine has it: a number for each feature, then the bias if there is one. */
export function startOf() {
  if (!state.start) return '';
  const numbers = state.start.split(','), { features } = desk.table;
  return numbers.slice(0, state.bias === 'none' ? features.length : numbers.length).join(',');
}

export function titleOf(words) {
  const kernel = partOf(words, 'kernel:'), map = partOf(words, 'map:'), rate = partOf(words, 'rate:');
  const parts = [ruleOf(words) === 'mlp' ? 'multi-layer perceptron' : ruleOf(words)];
  if (readoutOf(words)) parts.push(readoutOf(words));
  if (kernel) parts.push(`${kernel.slice(7).replaceAll(',', ', ')} kernel`);
  if (map) parts.push(`${map.slice(4).replaceAll(',', ', ')} map`);
  if (rate && ruleOf(words) !== 'mlp') parts.push(`rate ${rate.slice(5)}`);
  return parts.join(', ');
}

export function fill(select, names, chosen) {
  select.replaceChildren(...names.map((one) => {
    const [value, words, title] = Array.isArray(one) ? one : [one, one];
    return el('option', { value, textContent: words, title: title ?? '', selected: value === chosen });
  }));
}
export const choices = (name) => (desk.catalogue.choices.find((list) => list.name === name)?.choices ?? [])
  .filter((one) => !one.name.includes('(')).map((one) => [one.name, `${one.name}: ${one.meaning}`, one.meaning]);

function numberField(param, now, change) {
  return el('label', { title: `${param.meaning}; ${param.range ?? ''}` }, `${param.name} `,
    el('input', { type: 'text', inputMode: 'decimal', value: now ?? '', placeholder: String(param.default), onchange: (event) => change(event.target.value.trim()) }));
}

/** The learning rate: the rule's own, or a constant. */
function rateField(words, change) {
  const own = about(words).rate, rate = partOf(words, 'rate:')?.slice(5);
  const values = RATES.includes(+own) ? RATES : ['', ...RATES];
  const at = values.findIndex((value) => String(value) === (rate ?? (RATES.includes(+own) ? String(+own) : '')));
  const shown = el('output', { textContent: rate ?? own });
  const slider = el('input', {
    type: 'range', min: 0, max: values.length - 1, step: 1, value: Math.max(0, at),
    oninput: (event) => { shown.textContent = values[+event.target.value] || own; },
    onchange: (event) => { const value = values[+event.target.value]; change(withPart(words, (part) => part.startsWith('rate:'), value === '' || value === +own ? '' : `rate:${value}`)); },
  });
  return el('label', { title: 'how far an update goes along the example' }, 'Learning rate ', slider, shown);
}

function learnerForm(words, place, changed) {
  const change = (next) => { state.learners[place] = next; learnersForm(changed); changed(); };
  const box = el('div', { className: 'learner' });
  const remove = el('button', {
    type: 'button', textContent: 'Remove', disabled: state.learners.length === 1,
    ariaLabel: `Remove learner ${place + 1}`, onclick: () => { state.learners.splice(place, 1); learnersForm(changed); changed(); },
  });
  box.append(el('div', { className: 'row' }, el('strong', { textContent: `Learner ${place + 1}` }), remove));
  const rule = el('select', { onchange: (event) => change(event.target.value === 'mlp' ? MLP : `${event.target.value}/${readoutOf(words) || 'last'}`) });
  fill(rule, desk.catalogue.algorithms.map((one) => [one.name, one.name, one.summary]), ruleOf(words));
  rule.title = about(words)?.update ?? '';
  box.append(el('label', {}, 'Algorithm ', rule));
  if (ruleOf(words) !== 'mlp') {
    const readout = el('select', { onchange: (event) => change(withPart(words, (part) => !/[:=]/.test(part), event.target.value)) });
    fill(readout, choices('readout').map(([name, , meaning]) => [name, `${name} weights`, meaning]), readoutOf(words));
    box.append(el('label', {}, 'Predict with ', readout));
    const space = partOf(words, 'kernel:') ?? partOf(words, 'map:') ?? '';
    const spaces = [['', 'as given'],
      ...desk.catalogue.kernels.filter((one) => !['linear', 'precomputed'].includes(one.name)).map((one) => [`kernel:${one.name}`, `${one.name} kernel`, one.formula]),
      ...desk.catalogue.maps.map((one) => [`map:${one.name}`, `${one.name} map`, one.summary])];
    const select = el('select', { onchange: (event) => change(withPart(words, (part) => /^(kernel|map):/.test(part), event.target.value)) });
    fill(select, spaces, space.split(',')[0]);
    box.append(el('label', {}, 'Features ', select));
    if (space.startsWith('kernel:')) {
      const [name, ...settings] = space.split(',');
      const now = Object.fromEntries(settings.map((pair) => pair.split('=')));
      for (const param of desk.catalogue.kernels.find((one) => one.name === name.slice(7))?.params ?? []) {
        box.append(numberField(param, now[param.name], (value) => {
          if (value === '') delete now[param.name]; else now[param.name] = value;
          const all = Object.entries(now).map(([key, one]) => `${key}=${one}`);
          change(withPart(words, (part) => part.startsWith('kernel:'), [name, ...all].join(',')));
        }));
      }
    }
  }
  if (about(words)?.rate) box.append(rateField(words, change));
  for (const param of about(words)?.params ?? []) {
    const now = partOf(words, `${param.name}=`)?.split('=')[1];
    box.append(numberField(param, now, (value) => change(withPart(words, (part) => part.startsWith(`${param.name}=`), value === '' ? '' : `${param.name}=${value}`))));
  }
  return box;
}

/** Writes the form; `changed` is called when a learner is another one. */
export function learnersForm(changed) {
  $('learners').replaceChildren(...state.learners.map((words, place) => learnerForm(words, place, changed)));
  $('more').disabled = state.learners.length >= 4;
}
