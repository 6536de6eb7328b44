// A client of A2A, that of @a2a-js/sdk, on the other end of a pipe: each line on
// its standard input is a call {id, peer, op, args}, and it answers with lines
// {id, result}, {id, event} for each event of a stream, {id, done} after the
// last one, or {id, error}.
import { createInterface } from 'node:readline';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { Role, TaskState } from '@a2a-js/sdk';

const clients = new Map();
const streams = new Map();
const tell = (line) => process.stdout.write(JSON.stringify(line) + '\n');

async function open({ url, binding }) {
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver(),
  });
  const card = await new DefaultAgentCardResolver().resolve(url);
  const client = await factory.createFromAgentCard(card);
  if (client.transport.protocolName !== binding) throw new Error(`it speaks ${client.transport.protocolName}`);
  clients.set(clients.size + 1, { client, card });
  return clients.size;
}

const request = (m) => ({
  tenant: '',
  message: {
    messageId: m.id, taskId: m.task ?? '', contextId: m.context ?? '', role: Role.ROLE_USER,
    parts: [{ content: m.data ? { $case: 'data', value: JSON.parse(m.data) } : { $case: 'text', value: m.text }, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined, extensions: [], referenceTaskIds: [],
  },
  configuration: {
    acceptedOutputModes: [], taskPushNotificationConfig: m.push && config(m.push), historyLength: undefined, returnImmediately: m.immediately ?? false,
  },
  metadata: undefined,
});

const config = (p) => ({
  tenant: '', id: p.id, taskId: p.task, url: p.url, token: '',
  authentication: p.scheme ? { scheme: p.scheme, credentials: p.credentials } : undefined,
});
const configOf = (p) => ({ task: p.taskId, id: p.id, url: p.url, scheme: p.authentication?.scheme ?? '', credentials: p.authentication?.credentials ?? '' });

const text = (parts) => (parts ?? []).map((p) => (p.content?.$case === 'text' ? p.content.value : '')).join('');
const data = (parts) => parts.filter((p) => p.content?.$case === 'data').map((p) => JSON.stringify(p.content.value));
const taskOf = (t) => {
  if (!t.status) throw new Error(`the answer is no task: ${JSON.stringify(t)}`);
  const parts = t.artifacts.flatMap((a) => a.parts);
  return {
    id: t.id, context: t.contextId, state: TaskState[t.status.state], said: text(t.status.message?.parts), history: t.history.length,
    texts: parts.filter((p) => p.content?.$case === 'text').map((p) => p.content.value),
    data: data(parts),
  };
};
const eventOf = ({ payload: { $case, value } }) => {
  switch ($case) {
    case 'task': {
      const t = taskOf(value);
      return { kind: 'task', task: t.id, state: t.state, text: t.said + t.texts.join('') + t.data.join('') };
    }
    case 'statusUpdate': return { kind: 'status', task: value.taskId, state: TaskState[value.status.state], text: text(value.status.message?.parts) };
    case 'artifactUpdate': return { kind: 'artifact', task: value.taskId, state: '', text: text(value.artifact.parts) + data(value.artifact.parts).join('') };
    default: return { kind: $case, task: '', state: '', text: text(value.parts) };
  }
};
const cardOf = (c) => ({ name: c.name, extensions: (c.capabilities?.extensions ?? []).map((e) => e.uri), skills: c.skills.map((s) => s.id) });

const ops = {
  card: async ({ card }) => cardOf(card),
  extendedCard: async ({ client }) => cardOf(await client.transport.getExtendedAgentCard({ tenant: '' }, { serviceParameters: { 'A2A-Version': '1.0' } })),
  send: async ({ client }, m) => taskOf(await client.sendMessage(request(m))),
  get: async ({ client }, { task }) => taskOf(await client.getTask({ tenant: '', id: task })),
  list: async ({ client }, { context }) => {
    const got = await client.listTasks({ tenant: '', contextId: context, status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '', statusTimestampAfter: undefined });
    return got.tasks.map(taskOf);
  },
  cancel: async ({ client }, { task }) => taskOf(await client.cancelTask({ tenant: '', id: task, metadata: undefined })),
  setPush: async ({ client }, p) => configOf(await client.createTaskPushNotificationConfig(config(p))),
  getPush: async ({ client }, { task, id }) => configOf(await client.getTaskPushNotificationConfig({ tenant: '', taskId: task, id })),
  listPush: async ({ client }, { task }) => {
    const got = await client.listTaskPushNotificationConfig({ tenant: '', taskId: task, pageSize: 0, pageToken: '' });
    return got.configs.map(configOf);
  },
  deletePush: async ({ client }, { task, id }) => { await client.deleteTaskPushNotificationConfig({ tenant: '', taskId: task, id }); return null; },
};
const streaming = {
  stream: ({ client }, m, signal) => client.sendMessageStream(request(m), { signal }),
  subscribe: ({ client }, { task }, signal) => client.resubscribeTask({ tenant: '', id: task }, { signal }),
};

async function call({ id, peer, op, args }) {
  try {
    if (op === 'open') return tell({ id, result: await open(args) });
    if (op === 'stop') return streams.get(args.id)?.abort();
    if (ops[op]) return tell({ id, result: await ops[op](clients.get(peer), args) });
    const stop = new AbortController();
    streams.set(id, stop);
    for await (const e of streaming[op](clients.get(peer), args, stop.signal)) tell({ id, event: eventOf(e) });
    tell({ id, done: true });
  } catch (e) {
    tell({ id, error: { reason: e.reason ?? '', message: `${e.name}: ${e.message}` } });
  } finally {
    streams.delete(id);
  }
}

createInterface({ input: process.stdin }).on('line', (line) => call(JSON.parse(line)));
