import { Agent, fetch, interceptors } from 'undici';
import { each } from './each.mjs';

const dispatcher = new Agent().compose(interceptors.retry());

await each(async (url) => {
  const response = await fetch(url, { dispatcher });
  return { status: response.status, body: await response.text() };
});
