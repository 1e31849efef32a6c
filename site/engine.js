// The engine in the page: requests and answers in JSON, long lists of numbers beside them.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The module, whether it comes packed or the host has unpacked it already. */
async function unpacked(answer) {
  if (!answer.ok) throw new Error(`the engine could not be fetched: ${answer.status}`);
  const bytes = await answer.arrayBuffer();
  const [first, second] = new Uint8Array(bytes, 0, 2);
  if (first !== 0x1f || second !== 0x8b) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

export async function start(address) {
  const { instance } = await WebAssembly.instantiate(await unpacked(await fetch(address)), {});
  const { memory, rosenblatt_room, rosenblatt_ask, rosenblatt_answer, rosenblatt_numbers } = instance.exports;
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
  return { ask, numbers };
}
