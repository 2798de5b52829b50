import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { startControlPlane, typeUrlOf } from '../../../support/peers/control-plane.ts';
import { resource } from '../../../support/peers/discovery-files.ts';
import { muxTo, subscriptionTo } from '../../../support/peers/mux.ts';
import { waitUntil } from '../../../support/wait.ts';

const TYPE = typeUrlOf('endpoint.v3.ClusterLoadAssignment');

describe('an answer that many hear of', () => {
  it('gives each the first resource of its name, is refused for all, and is not taken for nobody', async () => {
    await using control = await startControlPlane();
    const statStore = new StatStore();
    const mux = muxTo(control.port, { statStore });
    const heard: string[] = [];
    const subscribe = (name: string, refusal?: string): ReturnType<typeof subscriptionTo> => {
      const update = async (given: { resources: readonly { message: object }[] }) => {
        heard.push(`${name}: ${JSON.stringify(given.resources.map(({ message }) => message))}`);
        return await Promise.resolve(refusal);
      };
      const subscription = subscriptionTo('endpoints', [name], {
        statStore,
        prefix: `${name}.`,
        update,
      });
      mux.add(subscription);
      return subscription;
    };
    const subscriptions = [subscribe('a'), subscribe('b', 'no'), subscribe('c')];
    const answered = async (nonce: string): Promise<object> =>
      await waitUntil(`an answer to ${nonce}`, () =>
        control.requests.find(({ response_nonce: each }) => each === nonce),
      );
    await waitUntil('a question', () => control.requests.length > 0);
    const send = (nonce: string, resources: readonly object[]): void =>
      control.sendRaw({ type_url: TYPE, version_info: `v${nonce}`, nonce, resources });
    send('one', [
      resource.endpoints('a', []),
      resource.endpoints('a', [1]),
      resource.endpoints('b', []),
    ]);
    const refused = (await answered('one')) as { version_info?: string; error_detail?: object };
    assert.equal(refused.version_info, undefined);
    assert.deepEqual(refused.error_detail, { code: 13, message: 'no' });
    const first = JSON.stringify([{ cluster_name: 'a', endpoints: [{}] }]);
    const other = JSON.stringify([{ cluster_name: 'b', endpoints: [{}] }]);
    assert.deepEqual(heard, [`a: ${first}`, `b: ${other}`]);
    const counted = (name: string): readonly number[] =>
      ['update_success', 'update_rejected'].map((each) =>
        statStore.valueOf(statStore.defineCounter(`${name}.${each}`)),
      );
    assert.deepEqual(['a', 'b', 'c'].map(counted), [
      [1, 1],
      [0, 1],
      [0, 1],
    ]);

    for (const subscription of subscriptions) mux.remove(subscription);
    send('two', [resource.endpoints('a', [])]);
    assert.equal('version_info' in (await answered('two')), false);
    send('three', []);
    assert.equal(((await answered('three')) as { version_info?: string }).version_info, 'vthree');
    mux.close();
  });
});
