import { type ComponentType, use } from 'react';

/** Code that could not be fetched: the service is away, or has become another version and no longer has it. */
export class MissingCode extends Error {}

/**
 * A component whose code is fetched when it is first needed. Throws `MissingCode` where it is drawn without: a browser that
 * failed to fetch code does not ask for it again before the window is loaded anew.
 */
export function lazyPart<Props extends object, Name extends string>(
  load: () => Promise<Record<Name, ComponentType<Props>>>,
  name: Name,
) {
  let loading: Promise<ComponentType<Props>> | undefined;
  const get = () => {
    loading ??= settled(
      load().then(
        (module) => module[name],
        (cause) => {
          throw new MissingCode('The code of this page could not be loaded.', { cause });
        },
      ),
    );
    return loading;
  };
  // biome-ignore lint/correctness/noComponentHookFactories: made once, when its module is loaded
  const Part = (props: Props) => {
    const Component = use(get());
    return <Component {...props} />;
  };
  /** Before it is needed. Whether it failed shows when it is drawn. */
  const preload = () =>
    get().then(
      () => {},
      () => {},
    );
  return Object.assign(Part, { preload });
}

/**
 * The promise, which says by itself when it is kept. React would wait even for one that is kept already: it shows nothing
 * first, and what there is 300 ms later. It reads these two properties, and sets them on promises it has seen before.
 */
function settled<Value>(promise: Promise<Value>): Promise<Value> {
  promise.then(
    (value) => Object.assign(promise, { status: 'fulfilled', value }),
    () => {},
  );
  return promise;
}
