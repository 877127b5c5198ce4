import { Octokit } from '@octokit/core';
import { throttling } from '@octokit/plugin-throttling';
import { each } from './each.mjs';

// The plug-in asks its handlers whether to try again at all, and has no default.
const tryOnceMore = (seconds, options, octokit, tries) => tries === 0;
const Client = Octokit.plugin(throttling);

await each(async (url) => {
  const octokit = new Client({
    baseUrl: new URL(url).origin,
    throttle: { onRateLimit: tryOnceMore, onSecondaryRateLimit: tryOnceMore },
    log: { debug() {}, info() {}, warn: console.error, error() {} },
  });
  const response = await octokit.request('GET /hello');
  return { status: response.status, body: response.data };
});
