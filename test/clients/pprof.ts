/** `go tool pprof` reads every profile that the interface gives. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { makeScratch } from '../support/scratch.ts';
import { startSluice } from '../support/programs/sluice.ts';
import { CONFIGURATION, hasGo, outcomeOf, withoutGo } from './outcome.ts';
import type { Outcome } from './outcome.ts';

/** Every profile that the interface gives is read by `go tool pprof`. */
export async function readProfiles(): Promise<Outcome> {
  const client = 'go tool pprof';
  if (!hasGo()) return withoutGo(client);
  using scratch = makeScratch();
  const path = scratch.file('cpu.prof');
  const admin = { ...(CONFIGURATION as { readonly admin: object }).admin, profile_path: path };
  await using sluice = await startSluice({ bootstrap: { ...CONFIGURATION, admin } });
  const url = (page: string): string => `http://127.0.0.1:${sluice.adminPort}${page}`;
  const keep = async (page: string, method: string): Promise<string> => {
    const file = scratch.file(`${page.replaceAll(/\W/g, '_')}.prof`);
    const answer = await fetch(url(page), { method });
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
    return file;
  };
  const files = [await keep('/heap_dump', 'GET'), await keep('/peak_heap_dump', 'GET')];
  for (const page of [
    '/allocprofiler?enable=y',
    '/cpuprofiler?enable=y',
    '/heapprofiler?enable=y',
  ]) {
    await fetch(url(page), { method: 'POST' });
    for (let count = 0; count < 20; count++) await fetch(url('/config_dump'));
    const stop = page.replace('=y', '=n');
    files.push(page.startsWith('/alloc') ? await keep(stop, 'POST') : await stopAndCopy(stop));
  }
  async function stopAndCopy(stop: string): Promise<string> {
    await fetch(url(stop), { method: 'POST' });
    return path;
  }
  const runs = files.map((file) =>
    spawnSync('go', ['tool', 'pprof', '-top', file], { encoding: 'utf8' }),
  );
  const passed = runs.every(({ status, stdout }) => status === 0 && stdout.includes('flat%'));
  return outcomeOf(client, passed, runs.map(({ stdout, stderr }) => stdout + stderr).join(''));
}
