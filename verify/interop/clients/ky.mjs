import ky from 'ky';
import { each } from './each.mjs';

await each(async (url) => {
  const response = await ky.get(url);
  return { status: response.status, body: await response.text() };
});
