// Calls get for all URLs of the command line at once and prints what it gave, or
// how it failed.
export async function each(get) {
  const urls = process.argv.slice(2);
  const answers = urls.map((url) => get(url).catch((error) => ({ error: String(error) })));
  console.log(JSON.stringify(await Promise.all(answers)));
}
