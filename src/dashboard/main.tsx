import "./styles/tokens.css";
import "./styles/base.css";
import { render } from "preact";
import { App } from "./shell/app.tsx";
import { announceOthers } from "./shell/others.tsx";

render(<App />, document.getElementById("app")!);
announceOthers();
