import { type ComponentType, use } from 'react';

/** Code that could not be loaded: the service does not answer, or was upgraded and no longer has this code. */
export class MissingCode extends Error {}

/**
 * A component with code that is loaded when it is first needed. Rendering it throws `MissingCode` if loading failed, since
 * a browser does not request failed code again before the page is reloaded.
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
  // biome-ignore lint/correctness/noComponentHookFactories: created once, when its module is loaded
  const Part = (props: Props) => {
    const Component = use(get());
    return <Component {...props} />;
  };
  /** Loads the code before it is needed. A failure appears when the component is rendered. */
  const preload = () =>
    get().then(
      () => {},
      () => {},
    );
  return Object.assign(Part, { preload });
}

/**
 * Marks a promise as fulfilled for React. React sets and reads these two properties on promises that it has seen. Without
 * them, it waits even for a fulfilled promise, and shows the content only 300 ms later.
 */
function settled<Value>(promise: Promise<Value>): Promise<Value> {
  promise.then(
    (value) => Object.assign(promise, { status: 'fulfilled', value }),
    () => {},
  );
  return promise;
}
