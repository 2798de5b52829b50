import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RuntimeValue } from '../../../../shared/resources/runtime.ts';
import { outlierEventMessage } from '../../../../supervisor/health/outlier-events.ts';
import { withRuntime } from '../../../../supervisor/health/outlier-runtime.ts';
import { SETTINGS, HOSTS, watched } from './watched-hosts.ts';

const times = (count: number, act: () => void): void => {
  for (let done = 0; done < count; done++) act();
};

const number = (value: number): RuntimeValue => ({ text: String(value), number: value });

describe('outlier detection of one cluster', () => {
  it('ejects for longer each time, and takes the longest time for the longest', () => {
    const { clock, ejected, monitor, events } = watched();
    const bad = monitor('a');
    for (const intervals of [1, 1, 2, 2, 2]) {
      times(3, () => bad.note(500));
      assert.deepEqual([...ejected], ['a']);
      clock.pass(intervals * 1000);
      assert.deepEqual([...ejected], [], `after ${intervals} intervals`);
    }
    assert.equal(events.filter(({ action }) => action === 'EJECT').length, 5);
    assert.equal(events.at(-1)?.ejections, 5);
  });

  it('counts what it detects, whether it ejects for it or not', () => {
    const enforcing = { ...SETTINGS.enforcing, consecutive_5xx: 0 };
    const { ejected, monitor, stat, events } = watched({ enforcing });
    times(6, () => monitor('a').note(500));
    assert.equal(ejected.size, 0);
    assert.equal(stat('ejections_detected_consecutive_5xx'), 2);
    assert.equal(stat('ejections_consecutive_5xx'), 2);
    assert.equal(stat('ejections_total'), 2);
    assert.equal(stat('ejections_enforced_total'), 0);
    assert.deepEqual(
      events.map(({ isEnforced }) => isEnforced),
      [false, false],
    );
  });

  it('has no more hosts ejected than it may, and says so before it draws lots', () => {
    const enforcing = { ...SETTINGS.enforcing, consecutive_5xx: 0 };
    const { monitor, stat, events } = watched({ enforcing, maxEjectionPercent: 10 });
    times(3, () => monitor('a').note(500));
    assert.equal(stat('ejections_overflow'), 1);
    assert.equal(stat('ejections_total'), 0);
    assert.deepEqual(events, []);
  });

  it('may always eject one host', () => {
    const { ejected, monitor } = watched({ maxEjectionPercent: 0, alwaysEjectsOne: true });
    times(3, () => monitor('b').note(500));
    times(3, () => monitor('c').note(500));
    assert.deepEqual([...ejected], ['b']);
  });

  it('ends an ejection when an active check passes, unless it must not', () => {
    for (const endsByCheck of [true, false]) {
      const { detector, ejected, monitor } = watched({ endsByCheck });
      times(3, () => monitor('a').note(503));
      detector.passedCheck('b');
      assert.deepEqual([...ejected], ['a']);
      detector.passedCheck('a');
      assert.equal(ejected.has('a'), !endsByCheck);
    }
  });

  it('tells a connection that broke from a host that could not be reached', () => {
    const thresholds = { ...SETTINGS.thresholds, splitsErrors: true };
    const { ejected, monitor, stat } = watched({ thresholds });
    times(9, () => {
      monitor('a').connected();
      monitor('a').note(-503);
    });
    assert.equal(ejected.size, 0);
    times(3, () => monitor('a').note(-503));
    assert.deepEqual([...ejected], ['a']);
    assert.equal(stat('ejections_enforced_consecutive_local_origin_failure'), 1);
    assert.equal(stat('ejections_detected_consecutive_5xx'), 0);
  });

  it('ejects by the rates of an interval, and names the kinds of events as Envoy does', () => {
    const thresholds = { ...SETTINGS.thresholds, splitsErrors: true };
    const consecutive = { ...thresholds.consecutive, consecutive_local_origin_failure: 1000 };
    const { clock, ejected, monitor, events } = watched({
      thresholds: { ...thresholds, consecutive },
    });
    for (const host of HOSTS) {
      times(10, () => {
        if (host === 'd') return monitor(host).note(-503);
        monitor(host).connected();
        monitor(host).note(200);
      });
    }
    clock.pass(1000);
    assert.deepEqual([...ejected], ['d']);
    const [event] = events.map((each) => outlierEventMessage({ ...each, cluster: 'c' }));
    assert.match(JSON.stringify(event), /"type":"SUCCESS_RATE_LOCAL_ORIGIN"/);
    assert.match(JSON.stringify(event), /"host_success_rate":0,"cluster_average_success_rate":75/);
  });

  it('detects a host for each of its rates, and counts it as ejected once', () => {
    const { clock, ejected, events, monitor, stat } = watched();
    for (const host of HOSTS) {
      times(10, () => {
        monitor(host).note(host === 'd' ? 500 : 200);
        monitor(host).note(host === 'd' ? 404 : 200);
      });
    }
    clock.pass(1000);
    assert.deepEqual([...ejected], ['d']);
    assert.equal(stat('ejections_active'), 1);
    assert.equal(stat('ejections_enforced_success_rate'), 1);
    assert.equal(stat('ejections_enforced_failure_percentage'), 1);
    assert.equal(events.at(-1)?.ejections, 2);
  });

  it('leaves hosts that are ejected out of averages and without a rate', () => {
    const { clock, detector, monitor } = watched({ baseEjectionMs: 5000, maxEjectionMs: 9000 });
    times(3, () => monitor('a').note(500));
    for (const host of HOSTS) times(10, () => monitor(host).note(host === 'a' ? 404 : 200));
    times(10, () => monitor('a').note(500));
    clock.pass(1000);
    assert.equal(detector.ratesOf('a').successRate, -1);
    assert.equal(detector.ratesOf('b').successRate, 100);
    assert.equal(detector.external.average, 100);
  });

  it('knows no rates where there are fewer hosts than any of them needs', () => {
    const few = { minimumHosts: 5, requestVolume: 1 };
    const { clock, detector, monitor } = watched({
      successRate: { ...few, deviationFactor: 1 },
      failurePercentage: { ...few, threshold: 50 },
    });
    for (const host of HOSTS) times(10, () => monitor(host).note(200));
    clock.pass(1000);
    assert.equal(detector.ratesOf('a').successRate, -1);
  });

  it('degrades a host that says so, for longer each time, and ejects it for failures all the same', () => {
    const thresholds = { ...SETTINGS.thresholds, detectsDegraded: true };
    const { clock, degraded, ejected, events, monitor, stat } = watched({ thresholds });
    for (const intervals of [1, 1, 2]) {
      times(2, () => monitor('a').degraded());
      assert.deepEqual([...degraded], ['a']);
      clock.pass(intervals * 1000);
      assert.deepEqual([...degraded], [], `after ${intervals} intervals`);
    }
    assert.equal(stat('ejections_detected_degradation'), 3);
    assert.equal(stat('ejections_active'), 0);
    monitor('a').degraded();
    times(3, () => monitor('a').note(500));
    assert.deepEqual([[...degraded], [...ejected]], [['a'], ['a']]);
    const [event] = events.map((each) => outlierEventMessage({ ...each, cluster: 'c' }));
    assert.match(JSON.stringify(event), /"type":"DEGRADED".*"action":"EJECT","num_ejections":0/);
  });

  it('ignores degradation where it is not asked to look at it', () => {
    const { degraded, monitor } = watched();
    monitor('a').degraded();
    assert.equal(degraded.size, 0);
  });

  it('follows the runtime', () => {
    const { clock, ejected, monitor } = watched(
      {},
      new Map([
        ['outlier_detection.consecutive_5xx', number(1)],
        ['outlier_detection.interval_ms', number(100)],
        ['outlier_detection.base_ejection_time_ms', number(150)],
        ['outlier_detection.max_ejection_percent', number(25)],
      ]),
    );
    monitor('a').note(500);
    monitor('b').note(500);
    assert.deepEqual([...ejected], ['a']);
    clock.pass(100);
    assert.deepEqual([...ejected], ['a']);
    clock.pass(100);
    assert.deepEqual([...ejected], []);
  });

  it('has a key of the runtime for each setting', () => {
    const names = [
      'interval_ms',
      'base_ejection_time_ms',
      'max_ejection_time_ms',
      'max_ejection_time_jitter_ms',
      'max_ejection_percent',
      'success_rate_minimum_hosts',
      'success_rate_request_volume',
      'success_rate_stdev_factor',
      'failure_percentage_minimum_hosts',
      'failure_percentage_request_volume',
      'failure_percentage_threshold',
      'enforcing_consecutive_5xx',
      'enforcing_success_rate',
      'enforcing_consecutive_gateway_failure',
      'enforcing_consecutive_local_origin_failure',
      'enforcing_local_origin_success_rate',
      'enforcing_failure_percentage',
      'enforcing_failure_percentage_local_origin',
    ];
    for (const name of names) {
      const snapshot = new Map([[`outlier_detection.${name}`, number(7)]]);
      assert.notDeepEqual(withRuntime(SETTINGS, snapshot), SETTINGS, name);
    }
  });
});
