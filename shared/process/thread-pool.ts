/** Pools of threads, by piscina. */
import { Piscina } from 'piscina';

type PoolOptions = NonNullable<ConstructorParameters<typeof Piscina>[0]>;

/**
 * A task whose thread fails is rejected. A thread whose task was given up before it failed, of
 * memory say, has nobody to tell: piscina makes an event of that, which would be an exception of
 * the process if nobody listened.
 */
export function openThreadPool<Task, Reply>(options: PoolOptions): Piscina<Task, Reply> {
  const pool = new Piscina<Task, Reply>(options);
  pool.on('error', () => undefined);
  return pool;
}
