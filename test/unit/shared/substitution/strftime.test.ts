import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { compileTimeFormat, makeIsoFormatter } from '../../../../shared/substitution/strftime.ts';

// Recorded from Envoy 1.40.0 for this moment.
const MOMENT = Date.UTC(2026, 10, 21, 11, 18, 53, 257);
const EXPECTED: Readonly<Record<string, string>> = {
  '%a %A %b %B %h': 'Sat Saturday Nov November Nov',
  '%c': 'Sat Nov 21 11:18:53 2026',
  '%C %d %D %e %F': '20 21 11/21/26 21 2026-11-21',
  '%g %G %V %u %w': '26 2026 47 6 6',
  '%H %I %j %k %l %m %M': '11 11 325 11 11 11 18',
  '%p %P %r %R': 'AM am 11:18:53 AM 11:18',
  '%s %S %T %X %x': '1795259933 53 11:18:53 11:18:53 11/21/26',
  '%U %W %y %Y': '46 46 26 2026',
  '%z %Z': '+0000 UTC',
  '%f %1f %3f %6f %9f': '257000000 2 257 257000 257000000',
  '%E3S %E*S %E3f %E*f': '53.257 53.257 257 257',
  '%Ez %E*z %E4Y %ET %Ec %EY %Od': '+00:00 +00:00:00 2026 T Sat Nov 21 11:18:53 2026 2026 21',
  '%+ %i %J %N %Q': '%+ %i %J %N %Q',
  '%0d %_d %-d %^a %#a': '21 21 21 SAT SAT',
  'x%%y%t%Y!': 'x%y\t2026!',
};

describe('time formats', () => {
  it('print what Envoy prints', () => {
    for (const [format, expected] of Object.entries(EXPECTED)) {
      assert.equal(compileTimeFormat(format, 'utc')(MOMENT), expected, format);
    }
  });

  it('pad and number days at the edges of a year', () => {
    const format = compileTimeFormat('%G-W%V-%u %j %e %-d %_d %I %l', 'utc');
    assert.equal(format(Date.UTC(2027, 0, 1)), '2026-W53-5 001  1 1  1 12 12');
    assert.equal(format(Date.UTC(2024, 11, 30, 15)), '2025-W01-1 365 30 30 30 03  3');
  });

  it('print the default form with milliseconds, across seconds', () => {
    const iso = makeIsoFormatter();
    assert.equal(iso(MOMENT), '2026-11-21T11:18:53.257Z');
    assert.equal(iso(MOMENT - 250), '2026-11-21T11:18:53.007Z');
    assert.equal(iso(MOMENT + 1000 - 257 + 42.9), '2026-11-21T11:18:54.042Z');
  });
});
