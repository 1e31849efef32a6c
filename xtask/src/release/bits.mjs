// What the package for Node makes of the same words as the program: node bits.mjs KINDS.json, in a folder that has the package and the
// files. Prints the digest of each model, or what was wrong with it; nothing for sentences, which the package does not read.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { train } from 'rosenblatt';

/** The settings that these words are: `--max-updates 100` is `maxUpdates: 100`. */
function settings(words) {
  const settings = {};
  for (let at = 0; at < words.length; at += 2) {
    const flag = words[at] === '-a' ? 'algorithm' : words[at].slice(2);
    settings[flag.replace(/-./g, ([, letter]) => letter.toUpperCase())] = words[at + 1];
  }
  return settings;
}

for (const [, words] of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  const [name, ...rest] = words.split(' ');
  if (name.endsWith('.conll')) {
    console.log('');
    continue;
  }
  try {
    const model = await train(readFileSync(name), { name, ...settings(rest) });
    console.log(createHash('sha256').update(model.bytes).digest('hex'));
    model.free();
  } catch (error) {
    console.log(error.message.replaceAll('\n', ' '));
  }
}
