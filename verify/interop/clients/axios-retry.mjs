import axios from 'axios';
import axiosRetry from 'axios-retry';
import { each } from './each.mjs';

const client = axios.create();
axiosRetry(client); // axios by itself never tries again

await each(async (url) => {
  const response = await client.get(url);
  return { status: response.status, body: response.data };
});
