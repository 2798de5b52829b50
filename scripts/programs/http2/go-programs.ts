/**
 * Go programs for the trials, built once into a folder outside of the tree: the user's cache, in
 * `sluice-programs`. The Go tool fetches what they need.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Trial, trialOf, runProgram, type TrialOutcome } from '../trial.ts';

export interface GoProgram {
  readonly module: string;
  readonly version: string;
  /** Of the program, and of a folder of its own: two may have the same name. */
  readonly folder: string;
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
export async function built({ module, version, folder }: GoProgram): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const target = join(cache, 'sluice-programs', `${folder}-${version}`);
  const path = join(target, module.slice(module.lastIndexOf('/') + 1));
  if (!existsSync(path)) {
    const env = { ...process.env, GOBIN: target };
    await runProgram('go', ['install', `${module}@${version}`], { env, limitMs: BUILD_LIMIT_MS });
  }
  return path;
}
