// The engine's module from beside this file: bundlers follow the address and copy it.

import { fetched } from './engine.js';

export function module() {
  return fetched(new URL('./rosenblatt.wasm.gz', import.meta.url));
}
