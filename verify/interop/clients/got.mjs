import got from 'got';
import { each } from './each.mjs';

await each(async (url) => {
  const response = await got(url);
  return { status: response.statusCode, body: response.body };
});
