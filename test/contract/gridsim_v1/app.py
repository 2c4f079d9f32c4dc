"""GridSim v1: a small resources server on nemo-gym's own base class.

`/seed_session` starts an episode for the row's day, the model may read the forecast and set a schedule,
`/verify` scores the schedule (idle: 0.20). Where there is nothing to measure, because the reset timed out or
the session's episode is another task's, `/verify` answers 200 with `mask_sample` and says why; with
`masked_as_error` in its config it raises the framework's HTTP 503 itself, as a server can that knows its clients.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated, Optional

from fastapi import FastAPI, HTTPException, Request
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseSeedSessionRequest,
    BaseSeedSessionResponse,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from nemo_gym.failure_kinds import PROVIDER_UNAVAILABLE, SESSION_LOST
from nemo_gym.server_utils import SESSION_ID_KEY
from pydantic import BaseModel, Field

from gridsim_v1.grid import HOURS, IDLE, demands, prices, score


class GridSimConfig(BaseResourcesServerConfig):
    reset_seconds: float = Field(default=0.025, description="How long the simulator takes to come up.")
    masked_as_error: bool = Field(default=False, description="Answer 503 where there is nothing to measure.")


class GridSimTask(BaseModel):
    """What a row of the data set says about its task."""

    day: int = Field(ge=1)
    reset_timeout: float = Field(default=30.0, gt=0, description="Seconds that the simulator has to come up.")
    episode_day: Optional[int] = Field(
        default=None, description="A fault to play: the session gets the episode of this day, not of its own."
    )


class GridSimSeedRequest(GridSimTask, BaseSeedSessionRequest):
    pass


class GridSimVerifyRequest(GridSimTask, BaseVerifyRequest):
    pass


class GridSimVerifyResponse(BaseVerifyResponse):
    day: int


class ForecastResponse(BaseModel):
    price: list[int]
    demand: list[int]


class ScheduleRequest(BaseModel):
    schedule: Annotated[list[int], Field(min_length=HOURS, max_length=HOURS)]


class ScheduleResponse(BaseModel):
    accepted: bool


@dataclass
class Episode:
    day: int
    reset_failure: Optional[str]
    schedule: list[int] = field(default_factory=lambda: list(IDLE))


class GridSimServer(SimpleResourcesServer):
    ray_enabled = False
    config: GridSimConfig
    episodes: dict[str, Episode] = Field(default_factory=dict)

    def setup_webserver(self) -> FastAPI:
        app = super().setup_webserver()
        app.post("/read_forecast")(self.read_forecast)
        app.post("/set_schedule")(self.set_schedule)
        return app

    async def seed_session(self, request: Request, body: GridSimSeedRequest) -> BaseSeedSessionResponse:
        day = body.day if body.episode_day is None else body.episode_day
        self.episodes[request.session[SESSION_ID_KEY]] = Episode(day, await self._reset(body.reset_timeout))
        return BaseSeedSessionResponse()

    async def read_forecast(self, request: Request) -> ForecastResponse:
        day = self.episodes[request.session[SESSION_ID_KEY]].day
        return ForecastResponse(price=prices(day), demand=demands(day))

    async def set_schedule(self, request: Request, body: ScheduleRequest) -> ScheduleResponse:
        self.episodes[request.session[SESSION_ID_KEY]].schedule = body.schedule
        return ScheduleResponse(accepted=True)

    async def verify(self, request: Request, body: GridSimVerifyRequest) -> GridSimVerifyResponse:
        episode = self.episodes.get(request.session[SESSION_ID_KEY])
        if episode is None:
            return self._masked(body, SESSION_LOST, "this session has no episode")
        if episode.reset_failure is not None:
            return self._masked(body, PROVIDER_UNAVAILABLE, episode.reset_failure)
        if episode.day != body.day:
            reason = f"the episode of this session is day {episode.day}, the task is day {body.day}"
            return self._masked(body, SESSION_LOST, reason)
        return GridSimVerifyResponse(**body.model_dump(), reward=score(body.day, episode.schedule))

    async def _reset(self, timeout_seconds: float) -> Optional[str]:
        try:
            await asyncio.wait_for(asyncio.sleep(self.config.reset_seconds), timeout_seconds)
        except asyncio.TimeoutError:
            return f"reset timed out after {timeout_seconds:g} s"
        return None

    def _masked(self, body: GridSimVerifyRequest, kind: str, reason: str) -> GridSimVerifyResponse:
        if self.config.masked_as_error:
            raise HTTPException(status_code=503, detail=reason)
        return GridSimVerifyResponse(
            **body.model_dump(), reward=0.0, mask_sample=True, failure_kind=kind, failure_reason=reason
        )


if __name__ == "__main__":
    GridSimServer.run_webserver()
