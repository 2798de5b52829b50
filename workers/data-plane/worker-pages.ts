/** The memory that all workers share, each part mapped with its first use. */
import { BreakerPage } from '../../shared/limits/breaker-page.ts';
import { OutlierPage } from '../../shared/limits/outlier-page.ts';
import { RateLimitPage } from '../../shared/limits/rate-limit-page.ts';
import { type DataPlaneEnv, pagesOf } from '../loop/data-plane-env.ts';
import type { SharedPages } from '../loop/shared-count.ts';

export function workerPages(env: DataPlaneEnv): SharedPages & { outlierPage(): OutlierPage } {
  const { workerIndex, concurrency } = env.heritage;
  let breakers: BreakerPage | undefined;
  let outliers: OutlierPage | undefined;
  let rates: RateLimitPage | undefined;
  return {
    workerIndex,
    breakerPage: () => (breakers ??= BreakerPage.map(pagesOf(env).breakerFd, concurrency)),
    outlierPage: () => (outliers ??= new OutlierPage(pagesOf(env).outlierFd)),
    rateLimitPage: () => (rates ??= RateLimitPage.map(pagesOf(env).rateLimitFd)),
  };
}
