import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  withBootstrapLogFormat,
  type ApplicationLogConfig,
} from '../../../../supervisor/start/bootstrap-log-format.ts';
import { compileLineFormat } from '../../../../shared/logging/line-format.ts';
import type { LogSettings } from '../../../../shared/logging/log-settings.ts';

const settings: LogSettings = {
  levels: { default: 'info', components: {}, files: [] },
  format: '%l',
  isEscaped: false,
  isFineGrain: false,
  isStackSingleEntry: false,
  path: '',
};

const formatOf = (config: ApplicationLogConfig | undefined, isFormatOption = false): string => {
  const result = withBootstrapLogFormat(settings, config, isFormatOption);
  return result.kind === 'settings' ? result.settings.format : `refused: ${result.reason}`;
};

describe('the log format of the bootstrap', () => {
  it('leaves the layout alone when it is absent', () => {
    assert.equal(formatOf(undefined, true), '%l');
    assert.equal(formatOf({}), '%l');
    assert.equal(formatOf({ log_format: {} }), '%l');
  });

  it('takes a text layout', () => {
    assert.equal(formatOf({ log_format: { text_format: '%v' } }), '%v');
  });

  it('takes a JSON template whose strings and keys hold flags', () => {
    const template = { level: '%l', text: '%j', list: ['%n', 3, true, null], '%n': '<%%' };
    const line = compileLineFormat(formatOf({ log_format: { json_format: template } }), false);
    const text = line.format({
      date: new Date(0),
      subMsNs: 0,
      elapsedNs: 0n,
      level: 'error',
      component: 'admin',
      message: 'say "é"\n',
      bareMessage: '',
      tagsJson: '',
      site: undefined,
    });
    assert.deepEqual(JSON.parse(text), {
      level: 'error',
      text: 'say "é"\n',
      list: ['admin', 3, true, null],
      admin: '<%',
    });
  });

  it('refuses message flags in JSON that would not be escaped', () => {
    assert.equal(
      formatOf({ log_format: { json_format: { a: ['%v'] } } }),
      'refused: setJsonLogFormat error: INVALID_ARGUMENT: Usage of %v is unavailable for JSON log formats',
    );
  });

  it('is refused together with --log-format', () => {
    assert.equal(
      formatOf({ log_format: { text_format: '%v' } }, true),
      'refused: Only one of ApplicationLogConfig.log_format or CLI option --log-format can be specified.',
    );
  });
});
