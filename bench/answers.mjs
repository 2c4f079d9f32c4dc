// The answers of the bench, alike in every process that makes them: nothing is random.

const KIB = 1024;
const MIB = 1024 * KIB;

/** Name to size in bytes and whether the answer is masked. */
export const ANSWERS = {
  "2k": { bytes: 2 * KIB, masked: false },
  "64k": { bytes: 64 * KIB, masked: false },
  "1m": { bytes: MIB, masked: false },
  "16m": { bytes: 16 * MIB, masked: false },
  "2k-masked": { bytes: 2 * KIB, masked: true },
  "64k-masked": { bytes: 64 * KIB, masked: true },
  "1m-masked": { bytes: MIB, masked: true },
};

/** The request that every client sends: small, because what costs is the answer. */
export const REQUEST_BODY = JSON.stringify({
  responses_create_params: { input: [{ role: "user", content: "Who proposed evolution?" }] },
  response: { id: "resp_1", object: "response", output: [] },
});

/** A Gym answer of exactly this size: text, token ids and log-probabilities first, the verdict members last, as nemo-gym 0.7.0 writes them. */
export function answerBody(name) {
  const { bytes, masked } = ANSWERS[name];
  const head = `{"responses_create_params":{"input":[{"role":"user","content":"Who proposed evolution?","type":"message"}],"tools":[],"parallel_tool_calls":true},"response":{"id":"resp_1","object":"response","output":[{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"`;
  const tail = masked
    ? `"}]}]},"reward":0.0,"mask_sample":true,"failure_kind":"sandbox_lost","failure_reason":"the sandbox never came up"}`
    : `"}]}]},"reward":1.0,"mask_sample":false,"failure_kind":null,"failure_reason":null}`;
  const lists = tokenLists(bytes - head.length - tail.length - 600);
  const fixed = head.length + tail.length + lists.length;
  const sentence =
    'He said: \\"selection, not design\\", and wrote\\nit down for {everyone}, again. ';
  let text = sentence.repeat(Math.max(0, Math.floor((bytes - fixed) / sentence.length)));
  text += ".".repeat(bytes - fixed - text.length);
  const opened = head + text;
  const cut = `"}]`.length;
  return Buffer.from(`${opened}${tail.slice(0, cut)}${lists}${tail.slice(cut)}`);
}

// Members of the message itself: half of what there is room for.
function tokenLists(room) {
  if (room < 2000) return "";
  const pair = Math.floor(room / 2 / 27);
  const ids = [];
  const logProbabilities = [];
  for (let n = 0; n < pair; n++) {
    ids.push(String((n * 7919) % 151_000).padStart(6, "1"));
    logProbabilities.push(`-0.${String((n * 104_729) % 10_000_000).padStart(15, "1")}`);
  }
  return `,"generation_token_ids":[${ids.join(",")}],"generation_log_probs":[${logProbabilities.join(",")}]`;
}
