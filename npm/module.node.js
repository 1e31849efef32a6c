// The engine's module from the folder of the package.

import { readFile } from 'node:fs/promises';
import { compiled } from './engine.js';

export async function module() {
  return compiled(await readFile(new URL('./rosenblatt.wasm.gz', import.meta.url)));
}
