/** The context in which the real program reads its command line. */
import { readBuildStamp, versionText } from '../../shared/process/build-stamp.ts';
import { hostInfoOf } from './host-facts.ts';
import type { CommandLineContext } from './parse-options.ts';

/**
 * The version word of the hot restart protocol that is spoken: its version and the size of the
 * shared memory object, which depends on the processor's mutex layout.
 */
const hotRestartVersion = process.arch === 'arm64' ? '11.120' : '11.104';

/** An environment variable, because tools ask with `--version` and nothing else. */
const STATED_VERSION = 'SLUICE_ENVOY_VERSION';

export function commandLineContext(): CommandLineContext {
  const stated = process.env[STATED_VERSION];
  return {
    program: 'sluice',
    version: versionText(readBuildStamp(), stated),
    ...(stated === undefined ? {} : { statedVersion: stated }),
    hotRestartVersion,
    host: hostInfoOf,
  };
}
