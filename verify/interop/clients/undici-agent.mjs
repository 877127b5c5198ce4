import { Agent, RetryAgent, request } from 'undici';
import { each } from './each.mjs';

const dispatcher = new RetryAgent(new Agent());

await each(async (url) => {
  const response = await request(url, { dispatcher });
  return { status: response.statusCode, body: await response.body.text() };
});
