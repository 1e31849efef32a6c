// The engine in the page: requests and answers in JSON, long lists of numbers beside them.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The module in these bytes, packed or not: some hosts unpack what they send. */
export async function compiled(bytes) {
  const [first, second] = new Uint8Array(bytes.buffer ?? bytes, bytes.byteOffset ?? 0, 2);
  if (first !== 0x1f || second !== 0x8b) return WebAssembly.compile(bytes);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(plain).arrayBuffer());
}

/** The module at an address. */
export async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the engine could not be fetched: ${answer.status}`);
  return compiled(await answer.arrayBuffer());
}

/** What to talk to, over a running module. */
export function talk(instance) {
  const { memory, rosenblatt_room, rosenblatt_ask, rosenblatt_answer, rosenblatt_numbers, rosenblatt_bytes } =
    instance.exports;
  const put = (part, bytes) => {
    const place = rosenblatt_room(part, bytes.length);
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
  };
  /** The answer to a request; throws what the engine complains about. */
  const ask = (request, bytes) => {
    if (bytes) put(1, bytes);
    put(0, encoder.encode(JSON.stringify(request)));
    const length = rosenblatt_ask();
    const answer = JSON.parse(decoder.decode(new Uint8Array(memory.buffer, rosenblatt_answer(), length)));
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  };
  /** A copy of the numbers that belong to the last answer. */
  const numbers = (count) => new Float64Array(memory.buffer, rosenblatt_numbers(), count).slice();
  /** A copy of the file that belongs to the last answer. */
  const bytes = (count) => new Uint8Array(memory.buffer, rosenblatt_bytes(), count).slice();
  return { ask, numbers, bytes };
}

export async function start(address) {
  return talk(await WebAssembly.instantiate(await fetched(address), {}));
}
