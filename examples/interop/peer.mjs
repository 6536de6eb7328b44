// A Parley peer in another language, with nothing but what Node.js brings:
// node peer.mjs URL TEXT says the text to the agent at the URL, under the envelope
// extension, and says it a second time to get the same answer.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const URI = 'https://github.com/parley-agents/parley/extensions/envelope/v1';
const [url, text] = process.argv.slice(2);

// Who we are: a name, an Ed25519 key, and when our store was made. They stay.
const file = process.env.PEER_FILE ?? 'peer.json';
if (!existsSync(file)) {
  const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
  writeFileSync(file, JSON.stringify({ uri: 'agent://local/visitor', key, generation: Date.now() }), { mode: 0o600 });
}
const me = JSON.parse(readFileSync(file));
const key = createPrivateKey(me.key);

// Canonical JSON (RFC 8785), for values without floating-point surprises.
const canon = (v) => Array.isArray(v) ? `[${v.map(canon)}]` : v === null || typeof v !== 'object' ? JSON.stringify(v)
  : `{${Object.keys(v).sort().map((k) => `${JSON.stringify(k)}:${canon(v[k])}`)}}`;
const digest = (salt, content) => createHash('sha256').update(Buffer.from(salt, 'base64url')).update(canon(content)).digest('hex');

// The token: a compact JWS that says who speaks to whom, for five minutes.
function token(receiver) {
  const b64 = (v) => Buffer.from(JSON.stringify(v)).toString('base64url');
  const { kty, crv, x } = createPublicKey(key).export({ format: 'jwk' });
  const claims = { iss: me.uri, sub: me.uri, aud: [receiver], exp: Math.floor(Date.now() / 1000) + 300, tenant: me.uri.split('/')[2] };
  const signed = `${b64({ alg: 'EdDSA', typ: 'JWT', jwk: { kty, crv, x } })}.${b64(claims)}`;
  return `${signed}.${sign(null, signed, key).toString('base64url')}`;
}

async function send(receiver, content, ids) {
  const [salt, capability] = [ids.salt, 'urn:cap:parley.chat/v1'];
  const header = {
    v: '1.0', performative: 'request', protocol: 'request/v1', schema: 'parley.chat/v1', capability, content_digest: digest(salt, content), salt,
    sender: me.uri, sender_generation: me.generation, receiver, actor: me.uri, tenant: me.uri.split('/')[2], auth: token(receiver),
    message_id: ids.message, conversation_id: ids.conversation, correlation_id: ids.conversation, seq: 1, hop: 0, attempt: 1,
    timestamp: ids.at, reply_by: ids.by, idempotency_key: ids.message, labels: { integrity: 'user' },
    trace: { traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01` },
  };
  const message = { messageId: header.message_id, contextId: header.correlation_id, role: 'ROLE_USER', parts: [{ data: content }], extensions: [URI], metadata: { [URI]: header } };
  const answer = await fetch(`${card.supportedInterfaces.find((i) => i.protocolBinding === 'HTTP+JSON').url}/message:send`, {
    method: 'POST', body: JSON.stringify({ message }), headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0', 'A2A-Extensions': URI },
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  const { task } = await answer.json();
  const last = task.artifacts.at(-1), said = last.metadata[URI]; // the final inform: its header, and its content as the data part
  if (said.in_reply_to !== ids.message || digest(said.salt, last.parts[0].data) !== said.content_digest) throw new Error('that is no answer to what was said');
  return { task: task.id, id: said.message_id, content: last.parts[0].data };
}

const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
const { agent } = card.capabilities.extensions.find((e) => e.uri === URI).params;
const ids = { salt: randomBytes(16).toString('base64url'), message: randomUUID(), conversation: randomUUID(), at: new Date().toISOString(), by: new Date(Date.now() + 30000).toISOString() };
const [first, second] = [await send(agent, { text }, ids), await send(agent, { text }, ids)];
console.log(JSON.stringify({ ...first, again: canon(first) === canon(second) }));
