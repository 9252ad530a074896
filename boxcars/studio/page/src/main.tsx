import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import "@fontsource-variable/inter/wght.css";
import "@xyflow/react/dist/style.css";
import "uplot/dist/uPlot.min.css";
import "./styles/base.css";
import "./styles/canvas.css";
import "./styles/panels.css";
import "./styles/views.css";

import { App } from "./App";
import { openLast } from "./state/files";
import { loadPalette } from "./state/palette";
import { showTheme } from "./state/studio";

showTheme();
const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
void loadPalette().then((about) => openLast(about?.file ?? null));
