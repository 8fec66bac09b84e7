"""The keys of a result log: the official ones by name, and our own.

The official names are those of ``mlperf_logging.mllog.constants`` (a test compares them; importing
that module would load numpy); our own start with ``trainmark_`` (the official checker ignores keys
that it has no rule for).
"""

CACHE_CLEAR = "cache_clear"
INIT_START = "init_start"
INIT_STOP = "init_stop"
RUN_START = "run_start"
RUN_STOP = "run_stop"
BLOCK_START = "block_start"
BLOCK_STOP = "block_stop"
EPOCH_START = "epoch_start"
EPOCH_STOP = "epoch_stop"
EVAL_START = "eval_start"
EVAL_STOP = "eval_stop"
EVAL_ACCURACY = "eval_accuracy"
EVAL_ERROR = "eval_error"

SUBMISSION_BENCHMARK = "submission_benchmark"
SUBMISSION_DIVISION = "submission_division"
SUBMISSION_ORG = "submission_org"
SUBMISSION_PLATFORM = "submission_platform"
SUBMISSION_STATUS = "submission_status"

SEED = "seed"
GLOBAL_BATCH_SIZE = "global_batch_size"
GRADIENT_ACCUMULATION_STEPS = "gradient_accumulation_steps"
TRAIN_SAMPLES = "train_samples"
EVAL_SAMPLES = "eval_samples"
WEIGHTS_INITIALIZATION = "weights_initialization"
TRACKED_STATS = "tracked_stats"

EPOCH_NUM = "epoch_num"
SAMPLES_COUNT = "samples_count"
STATUS = "status"
THROUGHPUT = "throughput"  # in the value of tracked_stats
TRAIN_LOSS = "train_loss"  # the same: mean loss of the block's micro-batches
SUCCESS = "success"
ABORTED = "aborted"

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
EFFICIENCY_PADDING = "padding_share"  # places of the batches that held no data, where told
