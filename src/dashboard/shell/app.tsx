import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Skeleton } from "../components/state.tsx";
import { go, type Page, route } from "../state/route.ts";
import { connection, titleOf } from "../state/server.ts";
import { toast } from "../state/toasts.ts";
import { PAGE_KEYS, servedPages } from "./actions.ts";
import { Alerts } from "./alerts.tsx";
import { DialogLayer } from "./dialog-layer.tsx";
import { Footer } from "./footer.tsx";
import { revokedAt } from "./incidents.ts";
import { useKeys } from "./keys.ts";
import { Navigation } from "./navigation.tsx";
import { openHelp, openPalette } from "./overlays.ts";
import { SCREENS, type Screen, TITLES } from "./screens.ts";
import { SignIn } from "./sign-in.tsx";
import { Toasts } from "./toasts.tsx";
import { TopBar } from "./top-bar.tsx";

const loaded = signal<Partial<Record<Page, Screen>>>({});

/** The frame of the page: navigation, top bar, the screen, state bar, and what lies over them. */
export function App() {
  const { page, subject } = route.value;
  const screen = loaded.value[page];
  const name = titleOf();
  useEffect(() => {
    document.title = [subject.slice(0, 100), TITLES[page], name].filter(Boolean).join(" · ");
    if (loaded.value[page] !== undefined) return;
    SCREENS[page]().then(
      (found) => {
        loaded.value = { ...loaded.value, [page]: found };
      },
      () =>
        toast({
          icon: "ui-warning",
          tone: "warn",
          text: "This screen cannot be loaded: the service cannot be reached, or has a new version.",
          action: { label: "Reload", run: () => location.reload() },
        }),
    );
  }, [page, subject, name]);
  useKeys({
    "/": () => openPalette(screen?.focusFilter),
    "?": openHelp,
    ...Object.fromEntries(servedPages().map((each) => [`g ${PAGE_KEYS[each]}`, () => go(each)])),
  });
  // What is known stays visible if credentials end while the page is open.
  const isRefused = connection.value.status === "refused" && revokedAt.value === undefined;
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        Skip to the page
      </a>
      <div class="app" data-page={page}>
        <Navigation />
        <TopBar title={TITLES[page]} screen={screen} />
        <Alerts />
        <main class="main" id="main" tabIndex={-1}>
          {isRefused ? <SignIn /> : screen === undefined ? <Skeleton what={TITLES[page]} /> : <screen.Content />}
        </main>
        <Footer />
      </div>
      <p class="vh" role="status">
        {TITLES[page]}
      </p>
      <Toasts />
      <DialogLayer />
    </>
  );
}

/** The address after `#` is the route, so the link cannot lead there by itself. */
function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
