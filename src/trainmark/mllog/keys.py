"""The keys of a result log: the official ones by name, and our own.

The official names are those of ``mlperf_logging.mllog.constants``; our own start with
``trainmark_`` (the official checker ignores keys that it has no rule for).
"""

from mlperf_logging.mllog import constants as official

CACHE_CLEAR: str = official.CACHE_CLEAR
INIT_START: str = official.INIT_START
INIT_STOP: str = official.INIT_STOP
RUN_START: str = official.RUN_START
RUN_STOP: str = official.RUN_STOP
BLOCK_START: str = official.BLOCK_START
BLOCK_STOP: str = official.BLOCK_STOP
EPOCH_START: str = official.EPOCH_START
EPOCH_STOP: str = official.EPOCH_STOP
EVAL_START: str = official.EVAL_START
EVAL_STOP: str = official.EVAL_STOP
EVAL_ACCURACY: str = official.EVAL_ACCURACY
EVAL_ERROR = "eval_error"

SUBMISSION_BENCHMARK: str = official.SUBMISSION_BENCHMARK
SUBMISSION_DIVISION: str = official.SUBMISSION_DIVISION
SUBMISSION_ORG: str = official.SUBMISSION_ORG
SUBMISSION_PLATFORM: str = official.SUBMISSION_PLATFORM
SUBMISSION_STATUS: str = official.SUBMISSION_STATUS

SEED: str = official.SEED
GLOBAL_BATCH_SIZE: str = official.GLOBAL_BATCH_SIZE
GRADIENT_ACCUMULATION_STEPS: str = official.GRADIENT_ACCUMULATION_STEPS
TRAIN_SAMPLES: str = official.TRAIN_SAMPLES
EVAL_SAMPLES: str = official.EVAL_SAMPLES
TRACKED_STATS = "tracked_stats"

EPOCH_NUM: str = official.EPOCH_NUM
SAMPLES_COUNT: str = official.SAMPLES_COUNT
STATUS: str = official.STATUS
SUCCESS: str = official.SUCCESS
ABORTED: str = official.ABORTED

# Our own records. Each value is one JSON object or word.
OWN_RULESET = "trainmark_ruleset"  # the round whose rules the writer followed, or "own"
OWN_TARGET = "trainmark_target"  # Target.to_dict()
OWN_SETTINGS = "trainmark_settings"  # every setting of the run
OWN_ENVIRONMENT = "trainmark_environment"  # software, device, threads
OWN_EFFICIENCY = "trainmark_efficiency"  # the EFFICIENCY_* fields below

# Fields of OWN_EFFICIENCY
EFFICIENCY_FLOP_PER_SAMPLE = "flop_per_sample"  # training step, counted by the framework
EFFICIENCY_ACHIEVED = "achieved_flop_per_s"  # over the training blocks, evaluation left out
EFFICIENCY_PEAK = "matmul_peak_flop_per_s"  # measured on this machine at the run's precision
EFFICIENCY_SHARE = "share_of_peak"  # achieved over peak
EFFICIENCY_INPUT_WAIT = "input_wait_share"  # share of training time spent waiting for a batch
EFFICIENCY_RATE = "samples_per_second"  # over the training blocks
