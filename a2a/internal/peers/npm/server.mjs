// An agent of A2A on the server of @a2a-js/sdk. It prints its URL when it
// listens, and ends when its standard input does. A POST of /lift ends the
// waiting of all who were told to wait.
import express from 'express';
import { randomUUID } from 'node:crypto';
import { Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';

let lift;
const lifted = new Promise((resolve) => { lift = resolve; });
const stops = new Map();

const part = (content) => ({ content, metadata: undefined, filename: '', mediaType: '' });
const text = (value) => part({ $case: 'text', value });

class Executor {
  async execute({ userMessage, taskId, contextId, task }, bus) {
    const said = userMessage.parts.map((p) => (p.content?.$case === 'text' ? p.content.value : '')).join('');
    const status = (state, words) => bus.publish(AgentEvent.statusUpdate({
      taskId, contextId, metadata: undefined,
      status: {
        state, timestamp: new Date().toISOString(),
        message: words && {
          messageId: randomUUID(), taskId, contextId, role: Role.ROLE_AGENT, parts: [text(words)], metadata: undefined, extensions: [], referenceTaskIds: [],
        },
      },
    }));
    const answer = (p) => {
      bus.publish(AgentEvent.artifactUpdate({
        taskId, contextId, append: false, lastChunk: true, metadata: undefined,
        artifact: { artifactId: randomUUID(), name: '', description: '', parts: [p], metadata: undefined, extensions: [] },
      }));
      status(TaskState.TASK_STATE_COMPLETED);
    };
    if (task) {
      answer(text(`you said ${said}`));
    } else {
      bus.publish(AgentEvent.task({
        id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined,
        status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() },
      }));
      const data = userMessage.parts[0].content;
      await this.begin(data?.$case === 'data' ? data.value : said, taskId, status, answer);
    }
    bus.finished();
  }

  async begin(said, taskId, status, answer) {
    switch (said) {
      case 'ask': return status(TaskState.TASK_STATE_INPUT_REQUIRED, 'which city?');
      case 'fail': return status(TaskState.TASK_STATE_FAILED, 'no luck');
      case 'refuse': return status(TaskState.TASK_STATE_REJECTED, 'not today');
    }
    status(TaskState.TASK_STATE_WORKING);
    switch (said) {
      case 'wait': {
        const stopped = new Promise((resolve) => stops.set(taskId, () => resolve(true)));
        if (await Promise.race([lifted, stopped])) return status(TaskState.TASK_STATE_CANCELED);
        return answer(text('it was lifted'));
      }
      default: return answer(said.a === undefined ? text(`${said} to you`) : part({ $case: 'data', value: { sum: said.a + said.b } }));
    }
  }

  async cancelTask(taskId) { stops.get(taskId)?.(); }
}

const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const face = (path, protocolBinding) => ({ url: url + path, protocolBinding, protocolVersion: '1.0', tenant: '' });
  const card = {
    name: 'stranger', description: 'an agent of @a2a-js/sdk', version: '1', provider: undefined, documentationUrl: '', iconUrl: '',
    supportedInterfaces: [face('/rpc', 'JSONRPC'), face('/rest', 'HTTP+JSON')],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
    securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], signatures: [],
    skills: [{ id: 'talk', name: 'talk', description: 'talks', tags: ['talk'], examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Executor());
  const userBuilder = UserBuilder.noAuthentication;
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder }));
  app.use('/rest', restHandler({ requestHandler, userBuilder }));
  app.post('/lift', (_, answer) => { lift(false); answer.end(); });
  console.log(url);
});
process.stdin.resume().on('end', () => process.exit(0));
