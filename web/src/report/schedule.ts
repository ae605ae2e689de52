// Drawing what is in sight at once and the rest when there is time, so that a large report opens quickly.

type Work = () => void;
const waiting = new Map<Element, Work>();
const near = new Set<Element>();
let idle = false;

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) near.delete(target);
      else {
        near.add(target);
        run(target);
      }
    }
  },
  { rootMargin: "600px 0px" },
);
const observed = new WeakSet<Element>();

const watchers = new Set<Work>();

function run(element: Element): void {
  const work = waiting.get(element);
  waiting.delete(element);
  if (!work) return;
  work();
  for (const watcher of watchers) watcher();
}

/** Calls after every piece of work until all is drawn, and once more then. The result ends it earlier. */
export function whenDrawn(watcher: Work): Work {
  if (waiting.size > 0) watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Draws everything now: before printing. */
export function flush(): void {
  for (const element of [...waiting.keys()]) run(element);
  settle();
}

function settle(): void {
  document.documentElement.toggleAttribute("data-ready", waiting.size === 0);
  if (waiting.size > 0) return;
  for (const watcher of watchers) watcher();
  watchers.clear();
}

function nextIdle(): void {
  if (idle || waiting.size === 0) return settle();
  idle = true;
  requestIdleCallback(
    () => {
      idle = false;
      const element = [...waiting.keys()].find((one) => near.has(one)) ?? waiting.keys().next().value;
      if (element) run(element);
      nextIdle();
    },
    { timeout: 300 },
  );
}

export function schedule(element: Element, work: Work): void {
  waiting.set(element, work);
  document.documentElement.removeAttribute("data-ready");
  if (!observed.has(element)) {
    observed.add(element);
    observer.observe(element);
  } else if (near.has(element)) {
    requestAnimationFrame(() => {
      run(element);
      settle();
    });
  }
  nextIdle();
}

addEventListener("beforeprint", flush);
