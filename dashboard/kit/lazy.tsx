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
  let loaded: ComponentType<Props> | undefined;
  const get = () => {
    loading ??= load().then(
      (module) => {
        loaded = module[name];
        return loaded;
      },
      (cause) => {
        throw new MissingCode('The code of this page could not be loaded.', { cause });
      },
    );
    return loading;
  };
  // biome-ignore lint/correctness/noComponentHookFactories: made once, when its module is loaded
  const Part = (props: Props) => {
    // React would wait for a promise that is kept already, too: it shows nothing first, and what there is 300 ms later.
    const Component = loaded ?? use(get());
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
