import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { compileLineFormat } from '../../../../shared/logging/line-format.ts';
import type { LogRecord } from '../../../../shared/logging/log-record.ts';

const record: LogRecord = {
  date: new Date(2026, 10, 1, 9, 5, 7, 42),
  subMsNs: 42_123,
  elapsedNs: 361_000n,
  level: 'info',
  component: 'main',
  message: '[Tags: "C":"1"] say "é"\nend',
  bareMessage: 'say "é"\nend',
  tagsJson: ',"C":"1"',
  site: { file: 'supervisor/admin/admin-server.ts', line: 463, functionName: 'listen' },
};

const line = (layout: string, change: Partial<LogRecord> = {}, isEscaped = false): string =>
  compileLineFormat(layout, isEscaped).format({ ...record, ...change });

describe('a flag of the log layout', () => {
  const pid = String(process.pid);
  const cases: readonly [flag: string, text: string][] = [
    ['%v', '[Tags: "C":"1"] say "é"\\nend'],
    ['%_', '[Tags: "C":"1"] say "é"\\nend'],
    ['%j', '[Tags: \\"C\\":\\"1\\"] say \\"é\\"\\nend'],
    ['%+', 'say "é"\\nend'],
    ['%*', ',"C":"1"'],
    ['%t', pid],
    ['%P', pid],
    ['%n', 'main'],
    ['%l', 'info'],
    ['%L', 'I'],
    ['%a', 'Sun'],
    ['%A', 'Sunday'],
    ['%b', 'Nov'],
    ['%h', 'Nov'],
    ['%B', 'November'],
    ['%c', 'Sun Nov 1 09:05:07 2026'],
    ['%C', '26'],
    ['%Y', '2026'],
    ['%D', '11/01/26'],
    ['%x', '11/01/26'],
    ['%m', '11'],
    ['%d', '01'],
    ['%H', '09'],
    ['%I', '09'],
    ['%M', '05'],
    ['%S', '07'],
    ['%e', '042'],
    ['%f', '042042'],
    ['%F', '042042123'],
    ['%p', 'AM'],
    ['%r', '09:05:07 AM'],
    ['%R', '09:05'],
    ['%T', '09:05:07'],
    ['%X', '09:05:07'],
    ['%%', '%'],
    ['%@', 'supervisor/admin/admin-server.ts:463'],
    ['%s', 'admin-server.ts'],
    ['%g', 'supervisor/admin/admin-server.ts'],
    ['%#', '463'],
    ['%!', 'listen'],
    ['%u', '361000'],
    ['%i', '361'],
    ['%o', '0'],
    ['%O', '0'],
    ['%^%l%$%&', 'info'],
    ['%E', String(Math.floor(record.date.getTime() / 1000))],
  ];
  for (const [flag, text] of cases) {
    it(`${flag} is ${JSON.stringify(text)}`, () => {
      assert.equal(line(`<${flag}>`), `<${text}>\n`);
    });
  }

  it('shows afternoon and midnight hours on the 12-hour clock', () => {
    const at = (hour: number): string => line('%I %p', { date: new Date(2026, 0, 1, hour) });
    assert.deepEqual([0, 11, 12, 23].map(at), ['12 AM\n', '11 AM\n', '12 PM\n', '11 PM\n']);
  });

  it('shows the offset from UTC with sign', () => {
    class Shifted extends Date {
      override getTimezoneOffset(): number {
        return 210;
      }
    }
    assert.equal(line('%z', { date: new Shifted() }), '-03:30\n');
    assert.match(line('%z'), /^[+-]\d\d:\d\d\n$/);
  });

  it('stays as it is when it is unknown, and a lone percent sign at the end is dropped', () => {
    assert.equal(line('%q %é 5%'), '%q %é 5\n');
  });

  it('has short names for all levels', () => {
    const levels = ['trace', 'debug', 'info', 'warning', 'error', 'critical'] as const;
    assert.equal(levels.map((level) => line('%L', { level }).trim()).join(''), 'TDIWEC');
  });
});

describe('alignment, width and truncation', () => {
  const cases: readonly [layout: string, text: string][] = [
    ['%6l|', '  info|'],
    ['%-6l|', 'info  |'],
    ['%=7l|', ' info  |'],
    ['%3!l|', 'inf|'],
    ['%2l|', 'info|'],
    ['%08l|', '    info|'],
    ['%-l|', 'info|'],
    ['%5%|', '%|'],
    ['%200l|', `${' '.repeat(60)}info|`],
    ['%9!!|', '   listen|'],
    ['%7!q|', ' listenq|'],
    ['x%5', 'x'],
  ];
  for (const [layout, text] of cases) {
    it(`${layout} gives ${JSON.stringify(text)}`, () => {
      assert.equal(line(layout), `${text}\n`);
    });
  }
});

describe('an escaped log', () => {
  it('has everything but the end of the line escaped as in C', () => {
    assert.equal(
      line('\t%v', { message: 'é"\'\\\r\n\u0001\u007f~ !' }, true),
      '\\t\\303\\251\\"\\\'\\\\\\r\\n\\001\\177~ !\n',
    );
  });
});

describe('what a layout needs', () => {
  it('is a call site only with source flags', () => {
    assert.equal(compileLineFormat('%v %l', false).needsSite, false);
    for (const flag of ['%@', '%s', '%g', '%#', '%!', '%5g']) {
      assert.equal(compileLineFormat(flag, false).needsSite, true, flag);
    }
  });

  it('is exact time only with flags finer than a millisecond', () => {
    assert.equal(compileLineFormat('%T.%e', false).needsExactTime, false);
    assert.equal(compileLineFormat('%F', false).needsExactTime, true);
  });
});
