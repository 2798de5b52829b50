/**
 * Go programs for the trials, built once into a folder outside of the tree: the user's cache, in
 * `sluice-programs`. The Go tool fetches what they need.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Trial, trialOf, runProgram, type TrialOutcome } from './trial.ts';

export interface GoProgram {
  readonly module: string;
  readonly version: string;
  /** The program has a folder of its own: two may have the same name. */
  readonly folder: string;
  /**
   * Lines of go.sum for its module, where the checksum database may not have it: built as a
   * dependency of a module of its own.
   */
  readonly sums?: readonly string[];
}

const GRPC = { version: 'v1.85.0' };
export const INTEROP_CLIENT: GoProgram = {
  ...GRPC,
  module: 'google.golang.org/grpc/interop/client',
  folder: 'grpc-interop-client',
};
export const INTEROP_SERVER: GoProgram = {
  ...GRPC,
  module: 'google.golang.org/grpc/interop/server',
  folder: 'grpc-interop-server',
};
export const GRPCURL: GoProgram = {
  module: 'github.com/fullstorydev/grpcurl/cmd/grpcurl',
  version: 'v1.9.4',
  folder: 'grpcurl',
};
const BUILD_LIMIT_MS = 600_000;

/** A trial that needs the Go tool. */
export function trialWithGo(name: string, run: () => Promise<TrialOutcome>): Trial {
  return trialOf('go', name, run);
}

/** The path of the built program. */
export async function built(program: GoProgram): Promise<string> {
  const { module, version, folder } = program;
  const target = programFolder(`${folder}-${version}`);
  const path = join(target, module.slice(module.lastIndexOf('/') + 1));
  if (existsSync(path)) return path;
  if (program.sums !== undefined) await buildInModule(program, program.sums, target, path);
  else {
    const env = { ...process.env, GOBIN: target };
    await runProgram('go', ['install', `${module}@${version}`], { env, limitMs: BUILD_LIMIT_MS });
  }
  return path;
}

/** A folder of that name in the cache for built programs; it may not exist yet. */
export function programFolder(name: string): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return join(cache, 'sluice-programs', name);
}

async function buildInModule(
  program: GoProgram,
  sums: readonly string[],
  folder: string,
  path: string,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const required = requirement(program);
  writeFileSync(join(folder, 'go.mod'), `module trial\n\nrequire ${required}\n`);
  writeFileSync(join(folder, 'go.sum'), sums.map((sum) => `${required}${sum}\n`).join(''));
  const flags = [process.env['GOFLAGS'], '-mod=mod', '-buildvcs=false'];
  const env = { ...process.env, GOFLAGS: flags.filter(Boolean).join(' ') };
  const options = { cwd: folder, env, limitMs: BUILD_LIMIT_MS };
  await runProgram('go', ['build', '-o', path, program.module], options);
}

/** Such a program stands in the folder `cmd` of its module, or is the module. */
function requirement({ module, version }: GoProgram): string {
  return `${module.split('/cmd/')[0]} ${version}`;
}
