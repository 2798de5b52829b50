import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { systemClock } from '../../../../shared/process/clock.ts';
import { ConfigError } from '../../../../supervisor/config/config-error.ts';
import {
  loadConfiguration,
  type Configuration,
} from '../../../../supervisor/start/load-configuration.ts';
import { httpListener } from '../../../support/parts/bootstrap.ts';
import { optionsOf } from '../../../support/options.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-deprecated-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const FIELD = 'envoy.deprecated_features:envoy.config.route.v3.RateLimit.Action.dynamic_metadata';

/** Written in the connection manager, so inside of an Any. */
const action = { descriptor_key: 'a', metadata_key: { key: 'k', path: [{ key: 'p' }] } };
const FATAL = {
  route_config: {
    virtual_hosts: [
      {
        name: 'v',
        domains: ['*'],
        rate_limits: [{ actions: [{ dynamic_metadata: action }] }],
      },
    ],
  },
};

async function load(hcm: object, layers: readonly object[] = []): Promise<Configuration> {
  const bootstrap = {
    layered_runtime: { layers },
    static_resources: {
      listeners: [httpListener([], { hcm })],
      // Deprecated, and outside of an Any.
      clusters: [{ name: 'c', http_protocol_options: {} }],
    },
  };
  return loadConfiguration(optionsOf('--config-yaml', JSON.stringify(bootstrap)), systemClock);
}

async function rulesOf(hcm: object, layers: readonly object[] = []): Promise<string[]> {
  try {
    return (await load(hcm, layers)).warnings.map(({ rule }) => rule);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.filter(({ severity }) => severity === 'error').map(({ rule }) => rule);
  }
}

describe('A deprecated field', () => {
  it('is a warning, and counted where the runtime is there already', async () => {
    const { warnings, featureUses } = await load({});
    assert.deepEqual(
      warnings.map(({ rule }) => rule),
      ['deprecated'],
    );
    assert.deepEqual(featureUses, { deprecated: 0, workInProgress: 0 });
  });

  it('that is fatal by default is refused unless a static layer allows it', async () => {
    assert.deepEqual(await rulesOf(FATAL), ['deprecated_refused']);
    const allow = { name: 's', static_layer: { [FIELD]: true } };
    assert.deepEqual(await rulesOf(FATAL, [allow]), ['deprecated', 'deprecated']);
    assert.equal((await load(FATAL, [allow])).featureUses.deprecated, 1);
  });

  it('is judged by layers on disk too, the later layer counting', async () => {
    mkdirSync(join(folder, 'v1', 'x'), { recursive: true });
    writeFileSync(join(folder, 'v1', 'x', FIELD), 'true\n');
    symlinkSync(join(folder, 'v1'), join(folder, 'current'));
    const root = join(folder, 'current');
    const disk = { name: 'd', disk_layer: { symlink_root: root, subdirectory: 'x' } };
    assert.deepEqual(await rulesOf(FATAL, [disk]), ['deprecated', 'deprecated']);
    const forbid = { name: 's', static_layer: { [FIELD]: false } };
    assert.deepEqual(await rulesOf(FATAL, [disk, forbid]), ['deprecated_refused']);
  });

  it('is fatal where the runtime says so of all, outside of extensions not', async () => {
    const all = { 'envoy.features.fail_on_any_deprecated_feature': true };
    const layers = [{ name: 's', static_layer: all }];
    assert.deepEqual(await rulesOf({}, layers), ['deprecated']);
    assert.deepEqual(await rulesOf(FATAL, layers), ['deprecated_refused']);
  });
});
