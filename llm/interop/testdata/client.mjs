// Puts each question to the endpoint with the npm client and prints what came, as one
// JSON object by question. Usage: node client.mjs BASE_URL KEY
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';

const [baseURL, apiKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = 'rehearsal';
const tools = [{
  type: 'function',
  function: {
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}];
const ask = (content) => [{ role: 'user', content }];

const questions = {
  async models() {
    const ids = [];
    for await (const m of client.models.list()) ids.push(m.id);
    return ids;
  },

  async chat() {
    const reply = await client.chat.completions.create({ model, messages: ask('hello') });
    return { text: reply.choices[0].message.content, finish: reply.choices[0].finish_reason, usage: reply.usage };
  },

  async stream() {
    const stream = await client.chat.completions.create({
      model, messages: ask('hello'), stream: true, stream_options: { include_usage: true },
    });
    const seen = { text: '', pieces: 0, finish: null, usage: null };
    for await (const chunk of stream) {
      const choice = chunk.choices[0];
      if (choice?.delta.content) seen.pieces++;
      seen.text += choice?.delta.content ?? '';
      seen.finish ??= choice?.finish_reason ?? null;
      seen.usage ??= chunk.usage ?? null;
    }
    return seen;
  },

  async call() {
    const messages = ask('weather in Oulu');
    const first = (await client.chat.completions.create({ model, messages, tools })).choices[0];
    const call = first.message.tool_calls[0];
    messages.push(first.message, { role: 'tool', tool_call_id: call.id, content: 'snow' });
    const second = (await client.chat.completions.create({ model, messages, tools })).choices[0];
    return {
      name: call.function.name, arguments: JSON.parse(call.function.arguments),
      finish: first.finish_reason, text: second.message.content,
    };
  },

  async streamedCall() {
    // The client's own assembly of the fragments, not one of this script.
    const stream = client.chat.completions.stream({ model, messages: ask('weather in Oulu'), tools });
    let fragments = 0;
    stream.on('tool_calls.function.arguments.delta', ({ arguments_delta: piece }) => { if (piece) fragments++; });
    const reply = await stream.finalChatCompletion();
    const call = reply.choices[0].message.tool_calls[0];
    return {
      name: call.function.name, arguments: JSON.parse(call.function.arguments),
      finish: reply.choices[0].finish_reason, fragments,
    };
  },

  async runTools() {
    const seen = [];
    const runner = client.chat.completions.runTools({
      model, messages: ask('weather in Oulu'),
      tools: [{
        type: 'function',
        function: {
          ...tools[0].function, parse: JSON.parse,
          function: ({ city }) => { seen.push(city); return 'snow'; },
        },
      }],
    });
    return { text: await runner.finalContent(), seen };
  },

  async structured() {
    const Place = z.object({ city: z.string(), days: z.number().int() });
    const reply = await client.chat.completions.parse({
      model, messages: ask('plan'), response_format: zodResponseFormat(Place, 'place'),
    });
    return reply.choices[0].message.parsed;
  },

  async cut() {
    const Place = z.object({ city: z.string(), days: z.number().int() });
    return client.chat.completions.parse({
      model, messages: ask('plan'), response_format: zodResponseFormat(Place, 'place'), max_tokens: 2,
    });
  },

  unauthorized: () => new OpenAI({ baseURL, apiKey: 'wrong', maxRetries: 0 }).chat.completions.create({ model, messages: ask('hello') }),
  invalid: () => client.chat.completions.create({ model, messages: [] }),
  limited: () => client.chat.completions.create({ model, messages: ask('limited') }),
  limitedStream: () => client.chat.completions.create({ model, messages: ask('limited'), stream: true }),
  unavailable: () => client.chat.completions.create({ model, messages: ask('unavailable') }),

  async midway() {
    let text = '';
    try {
      const stream = await client.chat.completions.create({ model, messages: ask('midway'), stream: true });
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    } catch (e) {
      return { text, apiError: e instanceof OpenAI.APIError };
    }
    return { text };
  },
};

const answers = {};
for (const [name, put] of Object.entries(questions)) {
  try {
    answers[name] = await put();
  } catch (e) {
    answers[name] = {
      error: e.constructor.name, status: e.status, type: e.type, param: e.param,
      retryAfter: e.headers?.get('retry-after') ?? undefined, message: e.message,
    };
  }
}
console.log(JSON.stringify(answers));
